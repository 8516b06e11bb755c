// Values of Candid types from JSON and to JSON, as clients of webmcp.json convert them: large
// numbers are strings, blobs are base64, and an alternative without a value is its name.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';

type Json = Readonly<Record<string, unknown>>;

/** The value for the Candid library, and the same as JSON. */
interface Conversion {
  readonly fromJson: (json: unknown) => unknown;
  readonly toJson: (value: unknown) => unknown;
}

const plain: Conversion = { fromJson: (json) => json, toJson: (value) => value };
const digits: Conversion = {
  fromJson: (json) => BigInt(json as string),
  toJson: (value) => String(value),
};

class Conversions extends IDL.Visitor<null, Conversion> {
  override visitType(type: IDL.Type): Conversion {
    throw new Error(`JSON of type ${type.display()} is not supported`);
  }

  override visitText(): Conversion {
    return plain;
  }

  override visitBool(): Conversion {
    return plain;
  }

  override visitNull(): Conversion {
    return plain;
  }

  override visitNat(): Conversion {
    return digits;
  }

  override visitInt(): Conversion {
    return digits;
  }

  override visitPrincipal(): Conversion {
    return {
      fromJson: (json) => Principal.fromText(json as string),
      toJson: (value) => (value as Principal).toText(),
    };
  }

  override visitOpt(_: unknown, of: IDL.Type): Conversion {
    const { fromJson, toJson } = conversionOf(of);
    return {
      fromJson: (json) => (json === null || json === undefined ? [] : [fromJson(json)]),
      toJson: (value) => ((value as unknown[]).length === 0 ? null : toJson((value as [0])[0])),
    };
  }

  override visitVec(_: unknown, of: IDL.Type): Conversion {
    if (of === IDL.Nat8) {
      return {
        fromJson: (json) => new Uint8Array(Buffer.from(json as string, 'base64')),
        toJson: (value) => Buffer.from(value as Uint8Array).toString('base64'),
      };
    }
    const { fromJson, toJson } = conversionOf(of);
    return {
      fromJson: (json) => (json as unknown[]).map(fromJson),
      toJson: (value) => (value as unknown[]).map(toJson),
    };
  }

  override visitRecord(_: unknown, fields: [string, IDL.Type][]): Conversion {
    const each = (way: keyof Conversion) => (value: unknown) =>
      Object.fromEntries(
        fields.map(([name, type]) => [name, conversionOf(type)[way]((value as Json)[name])]),
      );
    return { fromJson: each('fromJson'), toJson: each('toJson') };
  }

  override visitTuple(_: unknown, types: IDL.Type[]): Conversion {
    const each = (way: keyof Conversion) => (value: unknown) =>
      types.map((type, index) => conversionOf(type)[way]((value as unknown[])[index]));
    return { fromJson: each('fromJson'), toJson: each('toJson') };
  }

  override visitVariant(_: unknown, fields: [string, IDL.Type][]): Conversion {
    const types = new Map(fields);
    return {
      fromJson: (json) => {
        if (typeof json === 'string') return { [json]: null };
        const [[name, inner] = ['', null]] = Object.entries(json as Json);
        return { [name]: conversionOf(types.get(name) ?? IDL.Null).fromJson(inner) };
      },
      toJson: (value) => {
        const [[name, inner] = ['', null]] = Object.entries(value as Json);
        const type = types.get(name) ?? IDL.Null;
        return type === IDL.Null ? name : { [name]: conversionOf(type).toJson(inner) };
      },
    };
  }
}

export function conversionOf(type: IDL.Type): Conversion {
  return type.accept(new Conversions(), null);
}
