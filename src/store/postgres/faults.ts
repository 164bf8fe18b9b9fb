/**
 * If the server reports that a statement failed, nothing happened, unless the statement was ended or cancelled, or the
 * server reports the outcome as unknown. Without an answer the outcome is unknown.
 */
import pg from 'pg';
import { ServiceError } from '../../core/errors.ts';

/** Nothing happened: the statement was not sent, or the server undid it. */
export class NotExecutedError extends ServiceError {
  /** Whether the same statement may succeed right away, on another connection. */
  readonly mayTryAgain: boolean;

  constructor(message: string, options: { mayTryAgain: boolean; cause?: unknown }) {
    super('unavailable', message, options.cause === undefined ? {} : { cause: options.cause });
    this.mayTryAgain = options.mayTryAgain;
  }
}

/** Nothing happened: the tables refused a row. The error contains none of the row's data (P18). */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError';
  readonly code: string;
  readonly constraint: string | null;

  constructor({ code = '23000', constraint }: pg.DatabaseError) {
    super(`PostgreSQL refused a row (${code}, ${constraint ?? 'no constraint'}).`);
    this.code = code;
    this.constraint = constraint ?? null;
  }
}

/** The server's message may repeat a value, so only messages about the statement's text are kept (P18). */
function causeOf({ code = '', message }: pg.DatabaseError): Error {
  const words = code.startsWith('42') ? `${code}: ${message}` : `PostgreSQL answered ${code}.`;
  return Object.assign(new Error(words), { code });
}

const isOf = (code: string, classes: readonly string[]) => classes.some((prefix) => code.startsWith(prefix));

/** A lost race with another statement. */
const contention = ['40001', '40P01'];
/** The server has become a standby. */
const readOnly = ['25006'];
/** The outcome is unknown: see the top of this file. */
const undecided = ['40003', '08', '57'];

export function faultOf(error: unknown): Error {
  if (!(error instanceof pg.DatabaseError))
    return new ServiceError('unavailable', 'The connection to PostgreSQL was lost.', { cause: error });
  const { code = '' } = error;
  const cause = causeOf(error);
  if (code === '53100') return new ServiceError('storage_full', 'The disk of PostgreSQL is full.', { cause });
  if (code.startsWith('23')) return new ConstraintError(error);
  if (isOf(code, undecided))
    return new ServiceError('unavailable', 'PostgreSQL ended a statement.', { cause });
  const mayTryAgain = isOf(code, [...contention, ...readOnly]);
  return new NotExecutedError('PostgreSQL refused a statement.', { mayTryAgain, cause });
}

export function isLostConnection(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || isOf(error.code ?? '', ['08', '57']);
}

export function endsConnection(error: unknown): boolean {
  return isLostConnection(error) || isOf((error as pg.DatabaseError).code ?? '', readOnly);
}
