/** Choosing a language keeps the fragment, which an end-to-end link needs. */
for (const form of document.querySelectorAll<HTMLFormElement>('form.languages')) form.action += location.hash;
