import { describe, expect, it } from 'bun:test';
import { dicewareWords, isCommonPassword } from './word-lists.ts';

describe('common passwords', () => {
  it.each([
    '1234567890',
    'qwertyuiop',
    'BasketBall',
    'password',
    'Password!!',
    'password2026!',
    '123password123',
    '--basketball--',
    'passwordpassword',
    'Password1Password1',
    'aaaaaaaaaaaa',
    'abcabcabcabc',
    '010101010101',
  ])('%p is one', async (password) => {
    expect(await isCommonPassword(password)).toBe(true);
  });

  it.each([
    'correct horse battery',
    'vK8-tqpW3z',
    'basketballer',
    'ein Pferd frisst',
    '８４７２６３９１８４',
    '🧺🍎🥕🫐🍇🥦🧄🌽🥔🍋',
  ])('%p is none', async (password) => {
    expect(await isCommonPassword(password)).toBe(false);
  });

  it('are looked up in time that grows with the length and not with its square (P24)', async () => {
    await isCommonPassword('warm');
    const timeOf = async (length: number) => {
      const hostile = `a${'1'.repeat(length)}a`;
      const from = performance.now();
      await isCommonPassword(hostile);
      return performance.now() - from;
    };
    // A pattern that backtracks from every digit takes seconds for this.
    expect(Math.min(await timeOf(100_000), await timeOf(100_000), await timeOf(100_000))).toBeLessThan(200);
  });
});

describe('words for passphrases', () => {
  it('are 7,776 different ones in lower-case ASCII', async () => {
    const words = await dicewareWords();
    expect(new Set(words).size).toBe(7_776);
    expect(words.filter((word) => !/^[a-z-]+$/.test(word))).toEqual([]);
  });
});
