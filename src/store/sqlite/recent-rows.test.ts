import { expect, it } from 'bun:test';
import { createRecentRows } from './recent-rows.ts';

it('recent rows are found by either hint, several to a hint, until they are all in the index', () => {
  const rows = createRecentRows();
  rows.add(1, 100, 200);
  rows.add(2, 100, 201);
  rows.add(2, 100, 201);
  expect(rows.ofSecret(100).toSorted()).toEqual([1, 2]);
  expect(rows.ofReceipt(201)).toEqual([2]);
  expect(rows.ofSecret(200)).toEqual([]);
  rows.forget(1);
  expect(rows.ofReceipt(200)).toEqual([1]);
  rows.forget(2);
  expect(rows.ofReceipt(200)).toEqual([]);
});

it('recent rows of 100,000 puts take no more room than those that wait', () => {
  const rows = createRecentRows();
  for (let position = 1; position <= 100_000; position += 1) {
    rows.add(position, position, -position);
    if (position % 1_000 === 0) rows.forget(position - 40_000);
  }
  expect(rows.ofSecret(10_000)).toEqual([]);
  expect(rows.ofSecret(70_000)).toEqual([70_000]);
  expect(rows.ofReceipt(-100_000)).toEqual([100_000]);
});
