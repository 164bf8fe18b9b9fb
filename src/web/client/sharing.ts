/**
 * Shows a hidden button that hands something to another app, where the system has a sheet for that.
 * @param data what is shared, asked for at each press
 */
export function offerSharing(button: HTMLButtonElement | null, data: () => ShareData): void {
  if (button === null || typeof navigator.share !== 'function') return;
  button.hidden = false;
  button.addEventListener('click', () => {
    // Closing the sheet without choosing is no error.
    navigator.share(data()).catch(() => {});
  });
}
