/** What a reader is told over a primary, its standby and a failover: every order of everything that can happen, within stated bounds. */
import { describe, expect, it } from 'bun:test';
import { type AnswerRules, allAnswerRules, answersModel } from './answers.ts';
import { explore } from './explore.ts';

const maxStates = 200_000;
const bounds = { moves: 2, doubtfulEnds: 2 };

const defects: readonly { rule: keyof AnswerRules; left: typeof bounds; fault: string }[] = [
  {
    rule: 'provesWhatIsGone',
    left: { moves: 0, doubtfulEnds: 0 },
    fault: 'what is stored was called absent',
  },
  {
    rule: 'provesWhatIsThere',
    left: { moves: 0, doubtfulEnds: 0 },
    fault: 'what had ended was said to wait',
  },
  {
    rule: 'provesWhereItRead',
    left: { moves: 1, doubtfulEnds: 0 },
    fault: 'what is stored was called absent',
  },
];

describe('P5, P6: what is told of a secret, in every order', () => {
  it('is so, on every server and wherever the connection moves', () => {
    const model = answersModel(allAnswerRules, bounds);
    const { stateCount, fault, trail, landmarks } = explore(model, maxStates);
    expect([fault, trail]).toEqual([null, []]);
    expect([...landmarks].sort()).toEqual(Object.keys(model.landmarks).sort());
    console.log(`answers model: ${stateCount} states`);
  });

  for (const { rule, left, fault } of defects)
    it(`has a trail without the rule "${rule}"`, () => {
      const found = explore(answersModel({ ...allAnswerRules, [rule]: false }, left), maxStates);
      console.log(`without "${rule}", ${found.fault}:\n  ${found.trail.join('\n  ')}`);
      expect(found.fault).toBe(fault);
      expect(explore(answersModel(allAnswerRules, left), maxStates).fault).toBeNull();
    });

  it('has a trail to a wrong end, too, where the proof may be made on another server', () => {
    const absentSeen = { ...allAnswerRules, provesWhereItRead: false };
    const model = answersModel(absentSeen, { moves: 1, doubtfulEnds: 1 });
    const ends = {
      ...model,
      faultIn: (state: typeof model.start) =>
        model.faultIn(state)?.includes('ended') ? model.faultIn(state) : null,
    };
    const { fault, trail } = explore(ends, maxStates);
    console.log(`${fault}:\n  ${trail.join('\n  ')}`);
    expect(fault).toBe('what waits was called ended');
  });
});
