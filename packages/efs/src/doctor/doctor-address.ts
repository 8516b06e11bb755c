// Checks of `efs doctor` that only need the address: whether the service answers there, whether its
// clock agrees with this machine's, and whether its version is compatible.

import { lookup } from 'node:dns/promises';
import { canisterAddress, isLoopback } from '../../../client/src/connection/canister-address.ts';
import { networkFault } from '../../../client/src/connection/network-errors.ts';
import { withoutLastSlashes } from '../../../client/src/operations/url-paths.ts';
import type { StorageError } from '../../../client/src/storage-error.ts';
import type { Configuration } from '../config/config.ts';
import { type DoctorCase, type Finding, faultOf } from './finding.ts';

/** The response to `GET /api/v1/status`, which every address of the service answers. */
interface Answered {
  readonly url: string;
  readonly status: number;
  readonly date: string | undefined;
  readonly version: string | undefined;
  /** The fault of the network or the canister that a gateway reports in place of the service. */
  readonly error: StorageError | undefined;
  readonly milliseconds: number;
}

const answers = new WeakMap<Configuration, Promise<Answered>>();

/** Requests the status once per configuration. */
function askStatus(configuration: Configuration): Promise<Answered> {
  const known = answers.get(configuration);
  if (known !== undefined) return known;
  const asked = fetchStatus(configuration);
  asked.catch(() => {});
  answers.set(configuration, asked);
  return asked;
}

/** The HTTP address, also if calls go to the actor; '' if unknown. */
function addressOf({ url, host, canisterId }: Configuration): string {
  if (url !== undefined) return withoutLastSlashes(url);
  if (host === undefined || canisterId === undefined) return '';
  return canisterAddress({ host, canisterId });
}

async function fetchStatus(configuration: Configuration): Promise<Answered> {
  const url = addressOf(configuration);
  const signal = AbortSignal.timeout(configuration.timeoutMs);
  const start = performance.now();
  const response = await fetch(`${url}/api/v1/status`, { signal, redirect: 'error' });
  const milliseconds = performance.now() - start;
  const text = await response.text();
  const { status, headers } = response;
  const date = headers.get('date') ?? undefined;
  const cause = headers.get('x-ic-error-cause');
  const { canisterId } = configuration;
  const error = status < 400 ? undefined : networkFault({ address: url, canisterId, text, cause });
  return { url, status, date, version: versionIn(text), error, milliseconds };
}

function versionIn(text: string): string | undefined {
  try {
    const { version } = JSON.parse(text);
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}

export async function checkAddress({ configuration }: DoctorCase): Promise<Finding> {
  const url = addressOf(configuration);
  if (url === '') return { isGood: undefined, message: 'The HTTP address is unknown.' };
  try {
    const { status, version, error, milliseconds } = await askStatus(configuration);
    const fault = faultOf(error);
    if (fault !== undefined) {
      return { isGood: false, message: fault.problem, advice: fault.advice };
    }
    if (status === 408 || status === 429 || status > 501) {
      return {
        isGood: false,
        message: `A proxy or gateway at ${url} answers ${status} in place of the service.`,
        advice: 'Try again later.',
      };
    }
    if (version !== undefined && status === 200) {
      return { isGood: true, message: `${url} answers in ${Math.round(milliseconds)} ms.` };
    }
    return {
      isGood: false,
      message: `${url} answers ${status}, and is not this service.`,
      advice:
        'Compare the canister id in the address with that of your canister; on the network the ' +
        'address is https://<canister id>.icp.net.',
    };
  } catch (error) {
    return unreached(url, error);
  }
}

/** Returns the finding for a failed fetch(), which puts the reason into the cause of its error. */
async function unreached(url: string, error: unknown): Promise<Finding> {
  const { hostname } = new URL(url);
  const { cause, name } = error as { cause?: { code?: string }; name?: string };
  const code = String(cause?.code ?? name);
  const finding = (message: string, advice: string) => ({ isGood: false, message, advice });
  if (!(await isNamed(hostname))) {
    return finding(
      `The name ${hostname} cannot be resolved.`,
      'Check its spelling, and the network connection of this machine (DNS).',
    );
  }
  if (isLoopback(url)) {
    return finding(
      `Nothing answers at ${url} (${code}).`,
      'Start the local replica (npm start), or name another service.',
    );
  }
  if (/CERT|TLS|SSL|SELF_SIGNED|ALTNAME/.test(code)) {
    return finding(
      `The TLS certificate of ${hostname} is not valid (${code}).`,
      'Check the address, and the date of this machine. If a proxy decrypts TLS, set ' +
        'NODE_EXTRA_CA_CERTS to its certificate.',
    );
  }
  return finding(
    `Nothing answers at ${url} (${code}).`,
    'Check the internet connection of this machine, and firewalls and proxies on the way.',
  );
}

async function isNamed(hostname: string): Promise<boolean> {
  const name = hostname.replace(/^\[|\]$/g, '');
  return lookup(name).then(
    () => true,
    () => false,
  );
}

/** The network refuses signed calls if the clocks differ by five minutes. */
const driftSecondsMax = 120;

export async function checkClock({ configuration }: DoctorCase): Promise<Finding> {
  const answered = await askStatus(configuration).catch(() => undefined);
  const there = Date.parse(answered?.date ?? '');
  if (Number.isNaN(there)) return { isGood: undefined, message: 'The response has no date.' };
  const drift = Math.round((Date.now() - there) / 1_000);
  const seconds = Math.abs(drift);
  const way = drift > 0 ? 'ahead of' : 'behind';
  if (seconds <= driftSecondsMax) {
    return { isGood: true, message: `Within ${Math.max(seconds, 1)} s of the service's clock.` };
  }
  return {
    isGood: false,
    message: `This machine's clock is ${seconds} s ${way} that of the service.`,
    advice: 'Set the clock, preferably by NTP: signed calls with a wrong time are refused.',
  };
}

export async function checkVersions(patient: DoctorCase): Promise<Finding> {
  const answered = await askStatus(patient.configuration).catch(() => undefined);
  const { version } = answered ?? {};
  const { clientVersion } = patient;
  if (version === undefined) {
    return {
      isGood: undefined,
      message: `efs ${clientVersion}; the service did not report its version.`,
    };
  }
  const message = `efs ${clientVersion}, service ${version}.`;
  const [here, there] = [seriesOf(clientVersion), seriesOf(version)];
  if (here === there) return { isGood: true, message };
  const advice =
    there < here
      ? 'The service is older and refuses newer requests: upgrade the canister.'
      : 'efs is older than the service: update it (npm install -g).';
  return { isGood: undefined, message, advice };
}

/** Returns the same number for 0.2.1 and 0.2.0: patch versions have the same interface. */
function seriesOf(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return 1_000 * major + minor;
}
