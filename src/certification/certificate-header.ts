// The header by which a gateway verifies an answer, built by the native kernel
// (kernel/certificate-header.ts). HTTP gateway specification, "Certificate header".

import { createCommand, kernelCall, kernelOperations, kernelWords } from '../crypto/kernel.ts';
import { labelText } from '../storage/label-tree.ts';

export interface Proof {
  /** The certificate that the System API returned. */
  readonly certificate: Uint8Array;
  /** Self-described CBOR of the tree. */
  readonly witness: Uint8Array;
  /** `http_expr`, the labels of the path, and `<$>` or `<*>`, joined by NUL. */
  readonly path: string;
}

export const certificateField = 'IC-Certificate';

const command = createCommand(kernelOperations.certificateHeader, 4);
/** Bytes of the text between the values, and of padding to whole groups of Base64. */
const wordsBytesMax = 96;

export function certificateHeader({ certificate, witness, path }: Proof): Uint8Array {
  const labels = labelText(path);
  // A label's CBOR head has up to three bytes, one in place of a NUL; Base64 turns 3 bytes into 4
  const bytes = 2 * (certificate.length + witness.length) + 4 * labels.length;
  const out = new Uint8Array(bytes + wordsBytesMax);
  kernelCall(command.bytes);
  kernelCall(certificate);
  kernelCall(witness);
  kernelCall(labels);
  kernelCall(out);
  return out.subarray(0, command.words[kernelWords.result]);
}
