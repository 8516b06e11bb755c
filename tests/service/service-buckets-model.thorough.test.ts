// Buckets are created and deleted at a service of three volumes while canisters are upgraded and
// stopped, against a model: no name is lost, doubled or given to two owners.

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { expect, test } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { VolumeChange } from '../../src/actor/candid/service.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedsOr } from '../support/seed.ts';
import { ServiceOfVolumes } from '../support/service-of-volumes.ts';

const rounds = 50;
/** Rounds are added until each kind of event has occurred; the rarest occurs in one of 20. */
const roundsMax = 400;
const people = [1, 2, 3].map(() => principalOf(newIdentity()));
const names = Array.from({ length: 5 }, (_, index) => `bucket-${index}`);

interface Place {
  readonly volume: number;
  readonly owner: number;
}

class Storm {
  readonly service = new ServiceOfVolumes();
  readonly random: (limit: number) => number;
  /** Owners of buckets whose creation was confirmed, and all who asked for each name. */
  readonly expected = new Map<string, number>();
  readonly asked = new Map<string, Set<number>>();
  /** Names of this round's requests without an answer. */
  unanswered: string[] = [];
  /** `lost`: buckets that were created although their caller got no answer. */
  readonly counts = {
    created: 0,
    deleted: 0,
    unanswered: 0,
    lost: 0,
    refused: 0,
    upgrades: 0,
    stops: 0,
  };

  constructor(seed: number) {
    this.random = randomNumbers(seed);
  }

  any<T>(items: readonly T[]): T {
    return items[this.random(items.length)] as T;
  }

  /** Leaves one volume open, so that the front's next choice is often another one. */
  async openOne(): Promise<void> {
    const { service } = this;
    const chosen = this.any(service.volumes);
    for (const volume of service.volumes) {
      const change = { volume, isClosed: [volume !== chosen], limitBytes: [] };
      await service.front.call('updateVolume', [VolumeChange], [change]).catch(() => undefined);
    }
  }

  async create(name: string, person: number): Promise<void> {
    await this.openOne();
    const asked = this.asked.get(name) ?? new Set();
    this.asked.set(name, asked.add(person));
    const request = this.service.create(name, { sender: people[person] as Principal });
    const outcome = await request.catch((error: unknown) => ({ err: `Rejected: ${error}` }));
    if ('ok' in outcome) {
      this.counts.created += 1;
      this.expected.set(name, person);
    } else if (/^(?:ServiceUnavailable|Rejected)/.test(outcome.err ?? '')) {
      this.counts.unanswered += 1;
      this.unanswered.push(name);
    } else {
      expect(outcome.err).toMatch(/^BucketExists/);
      this.counts.refused += 1;
    }
  }

  async remove(name: string): Promise<void> {
    const place = (await this.places()).get(name)?.[0];
    if (place === undefined) return;
    const { service, counts } = this;
    const volume = service.volumes[place.volume] as Principal;
    const removed = await service.remove(name, volume, people[place.owner] as Principal).then(
      () => true,
      () => false,
    );
    // A stopped volume deletes nothing
    if (!removed || (await this.places()).get(name) !== undefined) return;
    counts.deleted += 1;
    this.expected.delete(name);
    this.asked.delete(name);
  }

  /** The upgrade of a front that has just sent an order to a volume. */
  #upgrade: Promise<void> | undefined;
  #isArmed = false;

  /** For each message that ran: an armed upgrade begins after the next order. */
  afterMessage({ method, kind }: MessageReport): void {
    const isOrder = kind === 'update' && method === 'createBucket';
    if (!this.#isArmed || !isOrder) return;
    this.#isArmed = false;
    this.#upgrade = this.service.upgrade(this.service.frontId);
  }

  /** Upgrades a canister, or stops a volume for a while. */
  async disturb(): Promise<void> {
    const { service, counts } = this;
    const kind = this.random(4);
    if (kind === 0) return;
    if (kind < 3) {
      const id = kind === 1 ? service.frontId : this.any(service.volumes);
      await service.upgrade(id).catch(() => undefined);
      counts.upgrades += 1;
      return;
    }
    const id = this.any(service.volumes);
    await this.manage('stop_canister', id);
    if (this.random(2) === 0) await service.wait(this.random(300));
    await this.manage('start_canister', id);
    counts.stops += 1;
  }

  async manage(method: string, id: Principal): Promise<void> {
    const Target = IDL.Record({ canister_id: IDL.Principal });
    const { replica, controller: sender } = this.service;
    await replica.call('aaaaa-aa', method, IDL.encode([Target], [{ canister_id: id }]), { sender });
  }

  /** Returns where each bucket is. */
  async places(): Promise<Map<string, Place[]>> {
    const found = new Map<string, Place[]>();
    for (const name of names) {
      for (const [owner, person] of people.entries()) {
        for (const volume of await this.service.placesOf(name, person)) {
          found.set(name, [...(found.get(name) ?? []), { volume, owner }]);
        }
      }
    }
    return found;
  }

  async check(): Promise<void> {
    const places = await this.places();
    for (const [name, found] of places) {
      expect(found, name).toHaveLength(1);
      const [{ owner }] = found as [Place];
      expect(this.asked.get(name)?.has(owner), `${name} belongs to someone who asked`).toBe(true);
      const isLost = this.unanswered.includes(name) && !this.expected.has(name);
      if (isLost) this.counts.lost += 1;
    }
    this.unanswered = [];
    for (const [name, owner] of this.expected) {
      expect(places.get(name)?.[0]?.owner, `${name} belongs to whom it was confirmed`).toBe(owner);
    }
  }

  async run(): Promise<void> {
    const onReport = (report: MessageReport) => this.afterMessage(report);
    await this.service.start(3, { onReport });
    const Access = IDL.Record({ allow: IDL.Opt(IDL.Vec(IDL.Principal)) });
    await this.service.front.call('updateAccess', [Access], [{ allow: [people] }]);
    const lacksAKind = () => Object.values(this.counts).includes(0);
    for (let round = 0; round < rounds || (lacksAKind() && round < roundsMax); round++) {
      this.#isArmed = this.random(3) === 0;
      const creations = Array.from({ length: 2 + this.random(6) }, () =>
        this.create(this.any(names), this.random(people.length)),
      );
      await this.disturb();
      await Promise.all(creations);
      await this.#upgrade;
      if (this.random(2) === 0) await this.remove(this.any(names));
      await this.service.wait(this.any([0, 6, 200, 700]));
      await this.check();
    }
    await this.settle();
  }

  /** Nothing is left over: the front knows exactly the buckets that exist. */
  async settle(): Promise<void> {
    for (const seconds of [700, 700, 86_400, 10]) await this.service.wait(seconds);
    await this.check();
    const places = await this.places();
    const listed = await this.service.listed();
    expect(listed.map(({ state }) => state)).not.toContain('unknown');
    const total = listed.reduce((sum, { buckets }) => sum + Number(buckets), 0);
    expect(total).toBe(places.size);
    for (const name of names.filter((free) => !places.has(free))) {
      const { ok } = await this.service.create(name, { sender: people[0] as Principal });
      expect(ok, name).toBeDefined();
    }
  }
}

test.each(seedsOr(1))(
  `createBucket at a front: ${rounds} rounds with upgrades and stops agree with a model, seed %i`,
  async (seed) => {
    const storm = new Storm(seed);
    try {
      await storm.run();
      console.log(JSON.stringify(storm.counts));
      for (const [name, count] of Object.entries(storm.counts)) {
        expect(count, name).toBeGreaterThan(0);
      }
    } finally {
      await storm.service.stop();
    }
  },
);
