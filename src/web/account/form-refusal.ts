/**
 * Why a form comes back.
 *
 * Owns: the shape that forms of accounts show, and the words for what refuses every form alike. Invariant: a form that
 * comes back has changed nothing.
 */
import type { PasswordRefusal } from '../../core/accounts/passwords.ts';
import { problemWords } from '../kit/error-page.tsx';
import type { Words } from '../kit/words.ts';
import type { PageProblem } from '../page.ts';

export interface FormRefusal {
  readonly status: number;
  /** What is wrong with which field, by its name, in the order of the form. */
  readonly wrong: Readonly<Record<string, string>>;
  /** What is wrong with none of them; `null` when the fields say it all. */
  readonly message: string | null;
}

export function refuseField(name: string, message: string, status = 422): FormRefusal {
  return { status, wrong: { [name]: message }, message: null };
}

/** For logging in, signing up and resetting: without a session a form is stale when its cookie is missing. */
export function refusalOfSignIn(problem: PageProblem, words: Words): FormRefusal {
  const refusal = refusalOfProblem(problem, words);
  return problem.problem === 'stale_form' ? { ...refusal, message: words.say('signIn.stale') } : refusal;
}

/** What is wrong with the whole form. */
export function refuseForm(message: string, status: number): FormRefusal {
  return { status, wrong: {}, message };
}

export function refusalOfProblem(problem: PageProblem, words: Words): FormRefusal {
  const { status, form } = problemWords(problem, words);
  return refuseForm(form, status);
}

/** @param name of the field that holds the password */
export function refusalOfPassword(refused: PasswordRefusal, name: string, { say }: Words): FormRefusal {
  switch (refused.outcome) {
    case 'password_too_short':
      return refuseField(name, say('password.tooShort', { count: refused.minLength }));
    case 'password_too_long':
      return refuseField(name, say('password.tooLong', { count: refused.maxLength }));
    case 'password_common':
      return refuseField(name, say('password.common'));
    case 'password_ill_formed':
      return refuseField(name, say('password.illFormed'));
  }
}
