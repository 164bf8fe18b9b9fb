/**
 * From a composed message to the bytes that travel, signed where mail is signed.
 *
 * Invariant: all the computing of a mail is done here, so what is left for whoever hands it over costs next to nothing,
 * and a mail that nobody gets can be made to cost the same (P17).
 */
import type { SendMailOptions } from 'nodemailer';
import type { DkimSigner } from './dkim.ts';

export interface MessageWriter {
  write(message: SendMailOptions): Promise<Buffer>;
  /** Loads the library, about 50 ms of computing: call it once the server listens, so that no request pays for it. */
  prepare(): Promise<void>;
}

/** @param dkim `null`: mail is not signed */
export function createMessageWriter(dkim: DkimSigner | null): MessageWriter {
  const open = async () => {
    const { createTransport } = await import('nodemailer');
    const signing = dkim === null ? {} : { dkim };
    return createTransport({ streamTransport: true, buffer: true, newline: 'windows', ...signing });
  };
  let opened: ReturnType<typeof open> | null = null;
  const composer = () => {
    opened ??= open();
    return opened;
  };
  return {
    async write(message) {
      const { message: bytes } = await (await composer()).sendMail(message);
      return Buffer.isBuffer(bytes) ? bytes : Buffer.concat(await Array.fromAsync(bytes));
    },
    async prepare() {
      await composer();
    },
  };
}
