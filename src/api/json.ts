/**
 * Limits for request JSON, checked before the runtime's parser sees it (P21): per byte, nesting, names and short values cost up
 * to a hundred times as much as text.
 */
const deepest = 32;
/** A full batch of 100 secrets has 1,001 names. */
const mostNames = 2_000;
/** A batch of 100 with every list full has about 4,500 values. */
const mostValues = 10_000;

/** `fault` completes a sentence about the body. */
export type ReadJson =
  | { readonly outcome: 'read'; readonly value: unknown }
  | { readonly outcome: 'refused'; readonly fault: string };

const refused = (fault: string): ReadJson => ({ outcome: 'refused', fault });

/**
 * Parses JSON, and refuses an object that repeats a name, at any depth and in any escaping. RFC 8259 §4 leaves its meaning open:
 * the standard parser keeps the last value, others the first. Such an object ends up with fewer names than were written.
 */
export function readJson(json: string): ReadJson {
  const written = measure(json);
  if (written === null)
    return refused(
      `nests deeper than ${deepest} levels, or has more than ${mostNames} names or ${mostValues} values`,
    );
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // The parser's message quotes the text, which may include a value.
    return refused('is not valid JSON');
  }
  return namesIn(value) < written.names
    ? refused('names a member more than once')
    : { outcome: 'read', value };
}

const sign = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openList: 0x5b,
  escape: 0x5c,
  closeList: 0x5d,
  open: 0x7b,
  close: 0x7d,
} as const;

/** Counts names by colons, values by commas and opening brackets. Does not validate. Returns `null` beyond a limit. */
function measure(json: string): { readonly names: number } | null {
  let [depth, names, values] = [0, 0, 1];
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === sign.quote) at = endOfText(json, at + 1);
    // Whitespace and digits.
    else if (code < sign.colon && code !== sign.comma) continue;
    else if (code === sign.colon) names += 1;
    else if (code === sign.close || code === sign.closeList) depth -= 1;
    else if (code === sign.comma) values += 1;
    else if (code === sign.open || code === sign.openList) {
      depth += 1;
      values += 1;
    }
    if (depth > deepest || names > mostNames || values > mostValues) return null;
  }
  return { names };
}

/** Returns the index of the closing quote, or else the input's length. */
function endOfText(json: string, start: number): number {
  const quote = json.indexOf('"', start);
  if (quote === -1) return json.length;
  if (json.charCodeAt(quote - 1) !== sign.escape) return quote;
  for (let at = start; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === sign.quote) return at;
    if (code === sign.escape) at += 1;
  }
  return json.length;
}

function namesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value);
  const own = Array.isArray(value) ? 0 : inside.length;
  return inside.reduce((sum: number, each) => sum + namesIn(each), own);
}
