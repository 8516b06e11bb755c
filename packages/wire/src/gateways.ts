// Domains of the Internet Computer's HTTP gateways. Every canister is at `<canister id>.<domain>`.

/** The first is the default of links and of every page that shows an address. */
export const gatewayDomains = ['icp.net', 'icp0.io', 'ic0.app'] as const;
