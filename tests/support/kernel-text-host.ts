// Exchanges texts with a kernel in Node. The exchange, a JavaScript array, must stay at the address
// that the kernel knows, so it is mirrored in the kernel's memory.

import { installKernelCall, kernelOperations } from '../../src/crypto/kernel.ts';
import { openTextExchange } from '../../src/crypto/kernel-text.ts';
import { installNodeKernel, type KernelHost } from './kernel-host.ts';

const commandAt = 15 * 1024 * 1024;
const exchangeAt = commandAt + 64;
const textAt = exchangeAt + 65_536;

export interface TextHost {
  readonly host: KernelHost;
  /** Passes texts as Azle's functions do. */
  readonly give: (text: string) => void;
  readonly take: () => string;
}

export async function installKernelText(): Promise<TextHost> {
  const host = await installNodeKernel();
  const { exports } = host;
  const bytesAt = (address: number, length: number) =>
    new Uint8Array(host.memory.buffer, address, length);
  let opening: Uint8Array | undefined;
  let exchange = new Uint8Array(0);
  installKernelCall((bytes) => {
    if (opening !== undefined) {
      exchange = bytes as Uint8Array<ArrayBuffer>;
      bytesAt(commandAt, 64).set(opening);
      exports.certified_data_set(commandAt, 64);
      exports.certified_data_set(exchangeAt, bytes.length);
      opening = undefined;
    } else if (bytes.length === 64 && bytes[16] === kernelOperations.openExchange) {
      opening = bytes;
    } else {
      host.gate(bytes);
    }
  });
  const give = (text: string) => {
    const utf8 = new TextEncoder().encode(text);
    bytesAt(exchangeAt, exchange.length).set(exchange);
    bytesAt(textAt, utf8.length).set(utf8);
    exports.debug_print(textAt, utf8.length);
    exchange.set(bytesAt(exchangeAt, exchange.length));
  };
  const take = () => {
    const length = exports.msg_reject_msg_size();
    exports.msg_reject_msg_copy(textAt, 0, length);
    return Buffer.from(bytesAt(textAt, length)).toString();
  };
  if (!openTextExchange({ give, take })) throw new Error('The kernel does not answer');
  return { host, give, take };
}
