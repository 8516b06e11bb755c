import { beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/hash.ts';
import {
  createCommand,
  installKernelCall,
  kernelCall,
  kernelOperations,
  kernelSelfTest,
} from '../../src/crypto/kernel.ts';
import { installNodeKernel, type KernelHost } from '../support/kernel-host.ts';

let host: KernelHost;

beforeEach(async () => {
  host = await installNodeKernel();
});

describe('kernelCall(): certified data', () => {
  test.each([0, 1, 31, 32])('%i bytes are passed on to the system', (length) => {
    const data = Uint8Array.from({ length }, (_, i) => i + 1);
    kernelCall(length === 0 ? new Uint8Array(0) : data);
    expect(host.system.certifiedData).toEqual(data);
  });

  test('more than 32 bytes that are not a command are passed on, and the system refuses them', () => {
    expect(() => kernelCall(new Uint8Array(33))).toThrow('longer than 32 bytes');
    expect(() => kernelCall(new Uint8Array(64))).toThrow('longer than 32 bytes');
  });

  test('can be set between operations', () => {
    sha256(new Uint8Array(100));
    kernelCall(Uint8Array.of(1, 2, 3));
    sha256(new Uint8Array(100));
    expect(host.system.certifiedData).toEqual(Uint8Array.of(1, 2, 3));
  });

  test('operands as short as certified data are not mistaken for certified data', () => {
    sha256(Uint8Array.of(9));
    expect(host.system.certifiedData).toEqual(new Uint8Array(0));
  });
});

describe('kernelCall(): commands', () => {
  test('kernelSelfTest() passes with the kernel', () => {
    expect(() => kernelSelfTest()).not.toThrow();
  });

  test('kernelSelfTest() explains how to build if no kernel answers', () => {
    installKernelCall(() => {});
    expect(() => kernelSelfTest()).toThrow('build with npm run build');
  });

  test.each([0, 6, 15, 21, 31, 43, 0xffff_ffff])(
    'operation %i is unknown and traps',
    (operation) => {
      for (const operands of [0, 1, 2]) {
        const command = createCommand(kernelOperations.sha256, operands);
        command.words[4] = operation;
        expect(() => kernelCall(command.bytes)).toThrow('unreachable');
      }
    },
  );

  test('a command with a wrong number of operands traps', () => {
    expect(() => kernelCall(createCommand(kernelOperations.sha256, 3).bytes)).toThrow(
      'unreachable',
    );
  });

  test('a command block of another length traps', () => {
    const { bytes } = createCommand(kernelOperations.sha256, 2);
    const longer = new Uint8Array(65);
    longer.set(bytes);
    expect(() => kernelCall(longer)).toThrow('unreachable');
    expect(() => kernelCall(bytes.slice(0, 63))).toThrow('unreachable');
  });

  test('an operand of a wrong length traps and leaves no pending operation', () => {
    kernelCall(createCommand(kernelOperations.sha256, 2).bytes);
    kernelCall(new Uint8Array(3));
    expect(() => kernelCall(new Uint8Array(31))).toThrow('unreachable');
    expect(() => kernelSelfTest()).not.toThrow();
  });

  test('an operand that looks like a command is data', () => {
    const { bytes } = createCommand(kernelOperations.spaceSize, 0);
    const copy = bytes.slice();
    expect(sha256(bytes)).toEqual(sha256(copy));
    expect(bytes).toEqual(copy);
  });
});
