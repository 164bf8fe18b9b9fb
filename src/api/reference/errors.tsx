/** Help with each refusal, written once for all operations. A code without an entry does not compile. */
import type { FC } from 'hono/jsx';
import { type Refusal, type RefusalCode, refusals } from '../v2/refusals.ts';
import { codeList, errorAnchor, withCode } from './text.tsx';

interface RefusalHelp {
  /** Version 1's status for the same refusal; absent if version 1 has no such refusal. */
  readonly v1Status?: number;
  readonly when: string;
  readonly remedy: string;
}

const help: Readonly<Record<RefusalCode, RefusalHelp>> = {
  malformed: {
    v1Status: 400,
    when: 'The request cannot be read: not JSON, not UTF-8, a name given twice.',
    remedy: 'Correct the request.',
  },
  not_authorized: {
    v1Status: 401,
    when: 'The credentials are wrong or missing.',
    remedy: 'Check the e-mail address and the API token.',
  },
  account_required: {
    v1Status: 401,
    when: 'Mail, notices, asking for a secret or, on some installations, creating one need an account.',
    remedy: 'Send credentials, or leave the field out.',
  },
  insufficient_scope: {
    v1Status: 403,
    when: 'The API token may not do that; the message names the missing scope.',
    remedy: 'Use a token with that scope.',
  },
  plan_required: {
    when: "The account's plan has no domains.",
    remedy: 'Ask the operator.',
  },
  requests_disabled: {
    when: 'Nobody may ask for secrets on this installation.',
    remedy: 'Ask the operator (`MAYFLY_REQUESTS`).',
  },
  public_sharing_disabled: {
    v1Status: 403,
    when: 'Only the owner of the domain that the request arrived on may share there.',
    remedy: "Use the site's own address.",
  },
  cross_site: {
    v1Status: 403,
    when: "A browser sent this from another site's page.",
    remedy: 'Call from a program, or have the operator allow the origin.',
  },
  not_found: { v1Status: 404, when: 'There is no such path.', remedy: 'Check the address.' },
  unknown_secret: {
    v1Status: 404,
    when: 'The key opens nothing: read, burned, expired, of another account, or never valid.',
    remedy: 'Do not retry. Ask for a new secret.',
  },
  unknown_request: {
    when: 'The key leads to no request: deleted, long over, never valid, or not of this answers link.',
    remedy: 'Do not retry. Ask for a new ask link.',
  },
  unknown_domain: {
    when: 'The account has no such domain.',
    remedy: 'Check the name, or register it.',
  },
  method_not_allowed: {
    v1Status: 405,
    when: 'The path does not answer this method.',
    remedy: 'Use one of the header `Allow`.',
  },
  already_gone: {
    v1Status: 404,
    when: 'The secret of this receipt was read, burned or has expired.',
    remedy: 'Nothing is left to do: `record` says what happened.',
  },
  domain_taken: {
    when: 'Another account has verified the domain.',
    remedy: 'Use another domain, or ask the operator.',
  },
  too_many_domains: {
    when: 'The account has as many domains as its plan allows.',
    remedy: 'Remove one first.',
  },
  request_full: {
    when: 'The request has all the answers it asked for. Nothing was stored.',
    remedy: 'Tell the asker, who can discard an answer or take one more.',
  },
  request_ended: {
    when: 'The request was closed or is over. Nothing was stored or changed.',
    remedy: 'Ask for a new ask link.',
  },
  too_many_places: {
    when: 'The open requests of the account would take more answers together than its plan allows.',
    remedy: 'Close one first.',
  },
  delivery_in_flight: {
    when: 'A mail of this secret is being sent.',
    remedy: 'Look at `record.delivery` of the receipt, then retry.',
  },
  in_flight: {
    when: 'A request with this `Idempotency-Key` is at work, or broke off less than 30 seconds ago.',
    remedy: 'Send the same request again after the seconds in `Retry-After`.',
  },
  too_large: {
    v1Status: 413,
    when: 'The value or the whole body is over its limit.',
    remedy: 'Share less; `limit` is in bytes.',
  },
  unsupported_media_type: {
    when: 'The body has no content type, or not the one that is read here.',
    remedy: 'Send `application/json`; a logo as `image/…`.',
  },
  incorrect_passphrase: {
    v1Status: 404,
    when: 'The passphrase is missing or wrong. The secret is untouched.',
    remedy: 'Ask for it again. A wrong one counts as a guess.',
  },
  incomplete_link: {
    v1Status: 400,
    when: 'The secret is end-to-end encrypted, or it is a request, and the part of its link after `#` is missing or wrong. Nothing is changed.',
    remedy: 'Open its full link in a browser, or with the `mayfly` command.',
  },
  not_sealed: {
    when: 'Proofs were sent, and the secret is not end-to-end encrypted. The secret is untouched.',
    remedy: 'Do not retry without proofs: the link is not what it says it is.',
  },
  code_required: {
    v1Status: 400,
    when: 'The secret asks for a code (`verify`), and none was sent that is good for this `look`; or a passphrase was to be checked without one. The secret is untouched.',
    remedy: 'Have one mailed with `POST /secret/:key/code`, and open with the same `look`.',
  },
  incorrect_code: {
    when: 'The code is wrong. The secret is untouched.',
    remedy: 'Ask for it again; `attempts_left` says how many more may be tried.',
  },
  needs_no_code: {
    when: 'A code was asked for, and the secret opens without one. Nothing was mailed.',
    remedy: 'Open it.',
  },
  idempotency_mismatch: {
    when: 'This `Idempotency-Key` came with another body or path within 24 hours. Nothing was created.',
    remedy: 'Use a new key for a new secret. After ten of these the key answers nothing but this.',
  },
  invalid_field: {
    v1Status: 400,
    when: 'A field breaks its rule; `field`, or `errors` for several, says which.',
    remedy: 'Correct the field.',
  },
  rate_limited: {
    v1Status: 429,
    when: 'Too many requests, or too many mails. Nothing was done.',
    remedy: 'Retry after the seconds in `Retry-After`.',
  },
  too_many_attempts: {
    v1Status: 429,
    when: 'Too many wrong passphrases or codes. The secret is untouched.',
    remedy:
      'Retry after the seconds in `Retry-After`. After 100, `message` says that it stays locked: ask its creator to allow more.',
  },
  internal: {
    v1Status: 500,
    when: 'A fault of the service.',
    remedy: 'Give `request_id` to the operator.',
  },
  unavailable: {
    v1Status: 503,
    when: 'The service cannot confirm the request. Nothing was consumed, nothing half stored.',
    remedy: 'Retry after the seconds in `Retry-After`.',
  },
};

export interface RefusalRow extends RefusalHelp {
  readonly code: RefusalCode;
  readonly status: number;
  /** In addition to `success`, `error` and `message`. */
  readonly fields: readonly string[];
}

/** Sorted by status. */
export const refusalRows: readonly RefusalRow[] = (Object.keys(refusals) as RefusalCode[])
  .map((code) => {
    const { status, extra = {} }: Refusal = refusals[code];
    return { code, status, fields: Object.keys(extra), ...help[code] };
  })
  .sort((a, b) => a.status - b.status);

/** Any call may get these, so operations do not repeat them. */
export const commonRefusals: ReadonlySet<string> = new Set<RefusalCode>([
  ...(['malformed', 'not_authorized', 'insufficient_scope', 'cross_site', 'not_found'] as const),
  ...(['method_not_allowed', 'too_large', 'unsupported_media_type', 'invalid_field'] as const),
  ...(['rate_limited', 'internal', 'unavailable'] as const),
]);

// Explicit, because some browsers drop table semantics when the style sheet shows rows as cards. Spread, because the linter calls
// literal attributes redundant.
const roles = {
  table: { role: 'table' },
  rowgroup: { role: 'rowgroup' },
  row: { role: 'row' },
  cell: { role: 'cell' },
  columnheader: { role: 'columnheader' },
  rowheader: { role: 'rowheader' },
} as const;

const errorColumns = ['Code', 'Status', 'In version 1', 'When', 'What to do'] as const;

export const Errors: FC = () => (
  <section aria-labelledby="errors">
    <h2 id="errors" class="large">
      Errors
    </h2>
    <p>
      Version 2 answers <code>{'{"success":false,"error":"<code>","message":"…"}'}</code>; version 1{' '}
      <code>{'{"message":"…"}'}</code> with the status below. Decide by the code or the status, not by the
      message. Every answer has an <code>X-Request-Id</code> for the operator. Where the connection breaks
      during a reveal, the secret may have been read: ask for its status before you retry. A reveal of version
      2 with <code>look</code> may simply be sent again, within a minute.
    </p>
    <table class="table errors" {...roles.table}>
      <caption class="visually-hidden">Errors</caption>
      <thead {...roles.rowgroup}>
        <tr {...roles.row}>
          {errorColumns.map((column) => (
            <th {...roles.columnheader} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody {...roles.rowgroup}>
        {refusalRows.map((row) => (
          <ErrorRow row={row} />
        ))}
      </tbody>
    </table>
  </section>
);

function furtherFields({ fields, when, remedy }: RefusalRow): readonly string[] {
  return fields.filter((name) => !`${when}${remedy}`.includes(`\`${name}\``));
}

const ErrorRow: FC<{ row: RefusalRow }> = ({ row }) => {
  const { code, status, v1Status, when, remedy } = row;
  const fields = furtherFields(row);
  return (
    <tr {...roles.row} id={errorAnchor(code)}>
      <th {...roles.rowheader} scope="row">
        <code>{code}</code>
      </th>
      <td {...roles.cell} data-label="Status">
        {status}
      </td>
      <td {...roles.cell} data-label="In version 1">
        {v1Status ?? '–'}
      </td>
      <td {...roles.cell} data-label="When">
        {withCode(when)}
        {fields.length > 0 && <> Also has {codeList(fields)}.</>}
      </td>
      <td {...roles.cell} data-label="What to do">
        {withCode(remedy)}
      </td>
    </tr>
  );
};
