/**
 * Why a server could not be reached, in words: the connection's fault by its code alone, because the fault's own text holds the address
 * of the request, and so a key (P18).
 */

const reasons: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'].map(
      (code) => [
        code,
        "its certificate is not trusted here (if it is of your own authority, set NODE_EXTRA_CA_CERTS to that authority's file)",
      ],
    ),
  ),
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  ENOTFOUND: 'there is no such name',
  ECONNREFUSED: 'nothing listens there',
};

function codeOf(fault: unknown): string {
  return typeof fault === 'object' && fault !== null && 'code' in fault ? String(fault.code) : '';
}

/** @param fault as the connection threw it */
export function unreachableSentence(server: string, fault: unknown): string {
  const code = codeOf(fault);
  const reason = Object.hasOwn(reasons, code) ? `: ${reasons[code]}` : '';
  return `${server} could not be reached${reason}.`;
}
