// Names below localhost, which local gateways give their canisters, are this machine (RFC 6761,
// section 6.3). Browsers and curl know that; not every system's resolver does (Debian's does not).

import dns from 'node:dns';

const { lookup } = dns;

/**
 * Lets this process resolve `<canister id>.localhost`. Sockets of Node look names up by this
 * property of the module, and its fetch() has no option for a resolver.
 */
export function resolveLocalhostNames(): void {
  const local = (name: string, ...rest: unknown[]) =>
    Reflect.apply(lookup, dns, [/\.localhost$/i.test(name) ? 'localhost' : name, ...rest]);
  dns.lookup = Object.defineProperties(local, Object.getOwnPropertyDescriptors(lookup)) as never;
}
