/** Texts of the list of runs, the run page and the review form. */
export const runs = {};
