/** All headers of a message, in lower case, besides the signature. */
export const messageHeaders = [
  'from',
  'to',
  'subject',
  'message-id',
  'date',
  'auto-submitted',
  'mime-version',
  'content-type',
] as const;

/** Only in a mail to a recipient. */
export const replyHeader = 'reply-to';

/** Comes first when mail is signed. */
export const signatureHeader = 'dkim-signature';
