// A valid signature of the network is verified only once while it is among the most recent ones.

import { expect, test } from 'vitest';
import { rememberingVerify } from '../../packages/client/src/actor/valid-signatures.ts';

const key = new Uint8Array(96);
const signature = new Uint8Array(48).fill(1);

/** Accepts messages that begin with 0, and records the second byte of each verified message. */
function counting() {
  const asked: number[] = [];
  const verify = rememberingVerify((_, __, message) => {
    asked.push(message[1] ?? 0);
    return message[0] === 0;
  });
  const judge = (...message: number[]) => verify(key, signature, Uint8Array.from(message));
  return { asked, judge };
}

test('rememberingVerify verifies a delegation once, however many certificates contain it', async () => {
  const { asked, judge } = counting();
  const delegation = 100;
  for (let certificate = 0; certificate < 20; certificate += 1) {
    expect(await judge(0, delegation)).toBe(true);
    expect(await judge(0, certificate)).toBe(true);
  }
  expect(asked.filter((each) => each === delegation)).toEqual([delegation]);
  expect(asked).toHaveLength(21);
});

test('rememberingVerify forgets old signatures, and remembers no invalid ones', async () => {
  const { asked, judge } = counting();
  for (let round = 0; round < 2; round += 1) expect(await judge(1, 50)).toBe(false);
  for (let certificate = 0; certificate < 9; certificate += 1) await judge(0, certificate);
  await judge(0, 0);
  expect(asked).toEqual([50, 50, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0]);
});

test('rememberingVerify distinguishes keys, signatures and messages', async () => {
  const message = Uint8Array.of(3);
  const verify = rememberingVerify((...given) => given.every((part, at) => part[0] === valid[at]));
  const valid = [key[0], signature[0], message[0]];
  expect(await verify(key, signature, message)).toBe(true);
  expect(await verify(signature, signature, message)).toBe(false);
  expect(await verify(key, key, message)).toBe(false);
  expect(await verify(key, signature, key)).toBe(false);
});
