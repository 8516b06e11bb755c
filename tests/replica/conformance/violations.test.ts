// IC0504: the words and the advice of each violation of the System API. `dfinity/ic`
// rs/embedders/src/wasmtime_embedder/system_api.rs, rs/interfaces/src/execution_environment/errors.rs.

import { describe, expect, it } from 'vitest';
import { startTestReplica, textOf } from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const documentation = 'https://internetcomputer.org/docs/current/references/execution-errors';
const toolchain =
  'This is likely an error with the compiler/CDK toolchain being used to build the canister.';
const callNew = `(call $call_new (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 4)
  (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))`;

const see = (section: string) => ` See documentation: ${documentation}#${section}`;
const violated = (text: string) => `Canister violated contract: ${text}`;

interface Violation {
  readonly name: string;
  readonly body: string;
  /** The message after the canister's id. */
  readonly text: string;
}

const violations: readonly Violation[] = [
  {
    name: 'accept_message',
    body: '(call $accept_message)',
    text: `${violated('"ic0_accept_message" cannot be executed in update mode')}.
Check the ICP documentation to make sure APIs are being called in the correct message types.${see('calling-a-system-api-from-the-wrong-mode')}`,
  },
  {
    name: 'msg_reply_data_append',
    body: '(call $msg_reply_data_append (i32.const 0) (i32.const 2097153))',
    text: `${violated('ic0.msg_reply_data_append: application payload size (2097153) cannot be larger than 2097152.')}.
Consider checking the response size and returning an error if it is too long.${see('msg_reply_data_append-payload-too-large')}`,
  },
  {
    name: 'msg_reject',
    body: '(call $msg_reject (i32.const 0) (i32.const 2097153))',
    text: `${violated('ic0.msg_reject: application payload size (2097153) cannot be larger than 2097152.')}.
Try truncating the error messages that are too long.${see('msg_reject-payload-too-large')}`,
  },
  {
    name: 'certified_data_set',
    body: '(call $certified_data_set (i32.const 0) (i32.const 33))',
    text: `${violated('ic0_certified_data_set failed because the passed data must be no larger than 32 bytes. Found 33 bytes.')}.
Try certifying just the hash of your data instead of the full contents.${see('certified_data_set-payload-too-large')}`,
  },
  {
    name: 'call_new',
    body: callNew.replace('(i32.const 4)', '(i32.const 20001)'),
    text: `${violated('Size of method_name 20001 exceeds the allowed limit of 20000.')}.
Size of method_name {} exceeds the allowed limit of {}.${see('canister-made-a-call-with-too-large-method-name')}`,
  },
  {
    name: 'call_data_append',
    body: `${callNew} (call $call_data_append (i32.const 0) (i32.const 10485757))`,
    text: `${violated('Request to aaaaa-aa:\0\0\0\0 has a payload size of 10485761, which exceeds the allowed limit of 10485760.')}.
Check the canister for errors or redesign the target API to allow shorter messages${see('canister-made-a-call-with-too-large-payload')}`,
  },
  {
    name: 'call_new with a callee of 30 bytes',
    body: callNew.replace(
      '(i32.const 0) (i32.const 0) (i32.const 0)',
      '(i32.const 0) (i32.const 30) (i32.const 0)',
    ),
    text: `Canister provided invalid principal id.\n${toolchain}`,
  },
  {
    name: 'call_perform without call_new',
    body: '(drop (call $call_perform))',
    text: `${violated('ic0.call_perform called when no call is under construction.')}.\n${toolchain}`,
  },
  {
    name: 'performance_counter',
    body: '(drop (call $performance_counter (i32.const 7)))',
    text: violated('Error getting performance counter type 7'),
  },
];

describe('Interface specification, "System API": an update with a violation', () => {
  it.each(violations)('$name', async ({ body, text }) => {
    const imports = ['accept_message', 'msg_reject', 'certified_data_set', 'call_new'];
    imports.push('call_data_append', 'call_perform', 'performance_counter');
    const replica = startTestReplica();
    const id = await replica.install(
      canister(imports, `(memory 200) (func (export "canister_update f") ${body})`),
    );
    expect(textOf(await replica.update(id, 'f'))).toBe(
      `IC0504: Error from Canister ${id}: ${text}`,
    );
  });
});
