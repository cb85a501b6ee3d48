/**
 * The nonce under which the content security policy lets style elements in, as the server wrote it into the page.
 * The scroll lock behind Mantine's dialogs has no option for it and looks for webpack's global of that name.
 */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
}

export function shareStyleNonce(): void {
  Object.assign(globalThis, { __webpack_nonce__: styleNonce() });
}
