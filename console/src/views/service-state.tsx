// The state of the service: stored files, costs, the time paid for, and encryption.

import type { ServiceStatus } from '../../../packages/client/src/types/service.ts';
import { language, texts } from '../language.ts';
import { FillBar } from '../parts/fill-bar.tsx';
import { addressOf } from '../route.ts';
import {
  cyclesLeft,
  cyclesPerDay,
  daysWords,
  encryptionWords,
  yearDays,
} from '../service-figures.ts';
import { sizeOf } from '../words.ts';

export function ServiceState({ status: found }: { status: ServiceStatus }) {
  const { state: words } = texts();
  return (
    <section aria-labelledby="service">
      <div class="files-head">
        <h2 id="service">{words.title}</h2>
        <a class="button" href={addressOf({ view: 'service' })}>
          {words.service}
        </a>
      </div>
      <ul class="cards">
        <Held status={found} />
        {found.chargesCycles !== false && <Keep status={found} />}
        <Paid status={found} />
        <li class="card tile">
          <h3>{words.encryption}</h3>
          <p>{encryptionWords(found.encryption)}</p>
          <p class="quiet">{words.version(found.version)}</p>
        </li>
      </ul>
    </section>
  );
}

function Held({ status }: { status: ServiceStatus }) {
  const { buckets, files, bytesStored, stableBytes, heapBytes } = status;
  const memory = Math.max(1, stableBytes + heapBytes);
  const share = Math.min(1, bytesStored / memory);
  const { state: words } = texts();
  return (
    <li class="card tile">
      <h3>{words.files}</h3>
      <p class="figure">{sizeOf(bytesStored)}</p>
      <FillBar share={share} label={words.share(Math.round(share * 100))} />
      <p class="quiet">{words.amount(files, buckets, sizeOf(memory))}</p>
    </li>
  );
}

/** A trillion cycles cost one XDR. */
const dollarsPerTrillion = 1.37;

function Keep({ status }: { status: ServiceStatus }) {
  const { state: words } = texts();
  const dollars = ((cyclesPerDay(status) * 30) / 1e12) * dollarsPerTrillion;
  return (
    <li class="card tile">
      <h3>{words.cost}</h3>
      <p class="figure">{priceWords(dollars)}</p>
      <p class="quiet">{words.perMonth}</p>
    </li>
  );
}

function priceWords(dollars: number): string {
  const { state: words } = texts();
  if (dollars < 0.01) return words.lessThanCent;
  if (dollars < 1) return words.cents(Math.round(dollars * 100));
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return words.dollars(dollars.toLocaleString(language(), digits));
}

function Paid({ status }: { status: ServiceStatus }) {
  const left = cyclesLeft(status);
  if (left === undefined) return null;
  const { days, isLow } = left;
  const { state: words } = texts();
  const time = daysWords(days);
  return (
    <li class="card tile">
      <h3>{words.paid}</h3>
      <p class="figure">{time}</p>
      <FillBar
        share={days / yearDays}
        isLow={isLow}
        label={days >= yearDays ? words.yearPaid : words.partPaid(time)}
      />
      <p class="quiet">
        {words.enough}
        {isLow && ` ${words.seeService}`}
      </p>
    </li>
  );
}
