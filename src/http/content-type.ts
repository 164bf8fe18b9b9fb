/** The runtime joins repeated headers with commas. A comma inside quotes, or not followed by a media type, is part of a parameter. */
const eachHeader = /(?:"(?:[^"\\]|\\.?)*(?:"|$)|[^",]|,(?!\s*[\w.+-]+\/))+/g;

/** For libraries that send `Content-Type` in addition to their caller's: the last one that matches `read`, else the last. */
export function contentTypeOf(headers: Headers, read: RegExp): string {
  const joined = headers.get('content-type') ?? '';
  if (!joined.includes(',')) return joined;
  const given = (joined.match(eachHeader) ?? []).map((each) => each.trim());
  return given.findLast((each) => read.test(each)) ?? given.at(-1) ?? '';
}
