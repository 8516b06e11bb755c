// The state of the service: stored files, costs, cycles and encryption.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ServiceStatus } from '../../../packages/client/src/types/service.ts';
import { FillBar } from '../parts/fill-bar.tsx';
import { addressOf } from '../route.ts';
import {
  cyclesLeft,
  cyclesPerDay,
  cyclesWords,
  daysWords,
  encryptionWords,
  yearDays,
} from '../service-figures.ts';
import type { Session } from '../session.ts';
import { counted, sizeOf } from '../words.ts';

export function ServiceState({ session }: { session: Session }) {
  const status = useSignal<ServiceStatus | undefined>(undefined);
  useEffect(() => {
    session.storage.status().then(
      (found) => {
        status.value = found;
      },
      // Without the status, the rest of the page still works.
      () => {},
    );
  }, [session]);
  const { value: found } = status;
  if (found === undefined) return null;
  return (
    <section aria-labelledby="service">
      <div class="files-head">
        <h2 id="service">The service</h2>
        <a class="button" href={addressOf({ view: 'service' })}>
          Service
        </a>
      </div>
      <ul class="cards">
        <Held status={found} />
        <Keep status={found} />
        <Cycles status={found} />
        <li class="card tile">
          <h3>Encryption</h3>
          <p>{encryptionWords(found.encryption)}</p>
          <p class="quiet">Version {found.version}</p>
        </li>
      </ul>
    </section>
  );
}

function Held({ status }: { status: ServiceStatus }) {
  const { buckets, files, bytesStored, stableBytes, heapBytes } = status;
  const memory = Math.max(1, stableBytes + heapBytes);
  const share = Math.min(1, bytesStored / memory);
  const percent = `${Math.round(share * 100)} %`;
  return (
    <li class="card tile">
      <h3>Files</h3>
      <p class="figure">{sizeOf(bytesStored)}</p>
      <FillBar share={share} label={`Files are ${percent} of the memory`} />
      <p class="quiet">
        {counted(files, 'file')} in {counted(buckets, 'bucket')}; {sizeOf(memory)} of memory
        including metadata and the program
      </p>
    </li>
  );
}

/** A trillion cycles cost one XDR. */
const dollarsPerTrillion = 1.37;

function Keep({ status }: { status: ServiceStatus }) {
  const dollars = ((cyclesPerDay(status) * 30) / 1e12) * dollarsPerTrillion;
  return (
    <li class="card tile">
      <h3>Cost of storage</h3>
      <p class="figure">{priceWords(dollars)}</p>
      <p class="quiet">per month, approximately, for the present data; reading is free</p>
    </li>
  );
}

function priceWords(dollars: number): string {
  if (dollars < 0.01) return 'less than a cent';
  return dollars < 1 ? counted(Math.round(dollars * 100), 'cent') : `${dollars.toFixed(2)} dollars`;
}

function Cycles({ status }: { status: ServiceStatus }) {
  const left = cyclesLeft(status);
  if (left === undefined) return null;
  const { cycles, days, isLow } = left;
  const words = daysWords(days);
  return (
    <li class="card tile">
      <h3>Cycles left</h3>
      <p class="figure">{cyclesWords(cycles)}</p>
      <FillBar
        share={days / yearDays}
        isLow={isLow}
        label={`${days >= yearDays ? 'All' : words} of a year paid for`}
      />
      <p class="quiet">
        Enough for {words} of storage, without uploads. Then the canister freezes, and cannot be
        used until somebody adds cycles.{isLow && ' “Service” shows the command.'}
      </p>
    </li>
  );
}
