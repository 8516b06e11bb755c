// Calls between subnets: requests and answers travel as messages that take time, in the order in
// which they are sent. IC spec, "Inter-canister method calls".

import { Principal } from '@dfinity/principal';
import type { ManagementCall, ManagementResult, Outcome } from '../core.ts';
import type { SubnetType } from '../subnet-type.ts';
import type { IncomingCall, OutgoingCall } from './canister.ts';
import { boundaryRefused } from './errors.ts';

/** The part of an engine that other subnets use. */
export interface CallReceiver {
  readonly subnetType: SubnetType;
  /** Queues a call to one of the subnet's canisters. */
  receive(idText: string, call: IncomingCall): void;
  /** Executes a call to the management canister that concerns one of the subnet's canisters. */
  receiveManagement(call: ManagementCall): Promise<ManagementResult>;
}

/** A request or an answer on its way; the canisters decide which subnets it connects. */
export interface StreamMessage {
  readonly from: Principal;
  readonly to: Principal;
  readonly bytes: number;
}

/** The other subnets, as one subnet sees them. */
export interface Neighbors {
  /** Returns the other subnet that has the canister; undefined if it is a canister of this one. */
  find(canisterId: Principal): CallReceiver | undefined;
  /** Returns the canister that a call to the management canister concerns. */
  concerned(method: string, arg: Uint8Array): Principal | undefined;
  /** Delivers a message when the receiving subnet may execute it. */
  send(message: StreamMessage, deliver: () => void): void;
}

/** The place of an engine among several subnets. */
export interface SubnetPlace {
  /** 0 for the root subnet. */
  readonly number: number;
  /** The number of subnets besides the root subnet. */
  readonly count: number;
  readonly id: Principal;
  readonly neighbors: Neighbors;
}

/** Methods that the subnet of the key executes, which is never a cloud engine. */
const keyMethods = new Set([
  ...['ecdsa_public_key', 'sign_with_ecdsa', 'schnorr_public_key', 'sign_with_schnorr'],
  ...['vetkd_public_key', 'vetkd_derive_key'],
]);

/** Whether a cloud engine sends the call to the management canister to another subnet. */
export function isForKeySubnet(type: SubnetType, { callee, method }: OutgoingCall): boolean {
  return type === 'cloud-engine' && callee.length === 0 && keyMethods.has(method);
}

/** Whether a call may cross the boundary of a cloud engine. */
export function mayCross({ timeoutSeconds, cycles }: OutgoingCall): boolean {
  return timeoutSeconds !== undefined && cycles === 0n;
}

/** A reject is transmitted as its code, one byte, and its message. */
export function answerBytes(outcome: Outcome): number {
  return outcome.status === 'replied' ? outcome.arg.length : 1 + Buffer.byteLength(outcome.message);
}

interface Sent {
  readonly type: SubnetType;
  readonly caller: Principal;
  readonly call: OutgoingCall;
  readonly incoming: IncomingCall;
}

/** Returns false, without an effect, if this subnet itself executes the call. */
export function sendAcross({ neighbors }: SubnetPlace, sent: Sent): boolean {
  const { type, caller, call, incoming } = sent;
  const callee = Principal.fromUint8Array(call.callee);
  const { method, arg, cycles } = incoming;
  const isManagement = call.callee.length === 0;
  const concerned = isManagement ? neighbors.concerned(method, arg) : callee;
  const receiver = concerned && neighbors.find(concerned);
  if (concerned === undefined || receiver === undefined) return false;
  const isEngine = type === 'cloud-engine' || receiver.subnetType === 'cloud-engine';
  if (isEngine && !mayCross(call)) {
    incoming.respond(boundaryRefused(), incoming.cycles);
    return true;
  }
  const respond: IncomingCall['respond'] = (outcome, refundedCycles) => {
    const answer = { from: concerned, to: caller, bytes: answerBytes(outcome) };
    neighbors.send(answer, () => incoming.respond(outcome, refundedCycles));
  };
  neighbors.send({ from: caller, to: concerned, bytes: call.bytes }, () => {
    if (!isManagement) {
      receiver.receive(callee.toText(), { ...incoming, respond });
      return;
    }
    void receiver
      .receiveManagement({ caller, fromCanister: true, method, arg, cycles })
      .then(({ outcome, refundedCycles }) => respond(outcome, refundedCycles));
  });
  return true;
}
