export const meeting = {};
