/** Small pictures of every kind that can be a logo, as browsers and drawing programs create them. */
export const plainSvg = `<?xml version="1.0" encoding="UTF-8"?>
<!-- a drawing --><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><defs>
<linearGradient id="a"><stop offset="0" stop-color="#123456"/></linearGradient></defs>
<g fill='url(#a)'><path d="M0 0h10v10z"/><use href="#a"/></g><text x="1" y="2">A &amp; B</text></svg>`;

/** A picture file, two pixels wide and high. */
function fileOf(base64: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(base64, 'base64'));
}

export const png = fileOf(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAEklEQVR4AWKSjvL+D8JMDFAAAAAA//8KagBFAAAABklEQVQDACzQA4OOk8+BAAAAAElFTkSuQmCC',
);

export const jpeg = fileOf(
  '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////////////////////////////2wBDAVVaWnhpeOuCguv/////////////////////////////////////////////////////////////////////////wAARCAACAAIDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAAAAL/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCIAh//2Q==',
);

export const webp = fileOf('UklGRioAAABXRUJQVlA4IB4AAABQAQCdASoCAAIAB0CWJZgABDOAAP7nin+9y0VRgAA=');

/** One pixel. */
export const gif = fileOf('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7');
