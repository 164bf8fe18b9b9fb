/**
 * Names that stand twice in a JSON object (RFC 8259 §4 leaves their meaning open).
 *
 * The standard parser keeps the last one in silence, another reader the first: such a body is refused, at any depth and
 * however the name is escaped, so that nothing between client and service can read it differently.
 */

/** Every quoted text of valid JSON, with the colon that makes it a name, and every bracket. */
const jsonToken = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g;

/** @param json valid JSON, as it arrived */
export function repeatsName(json: string): boolean {
  /** The names of each object that is open here; `null` for a list. */
  const open: (Set<string> | null)[] = [];
  for (const [token, colon] of json.matchAll(jsonToken)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (colon !== undefined) {
      const names = open.at(-1);
      const name = nameIn(token.slice(0, token.length - colon.length));
      if (names?.has(name) === true) return true;
      names?.add(name);
    }
  }
  return false;
}

function nameIn(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}
