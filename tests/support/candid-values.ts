// A non-empty value of each Candid type of the interface.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';

const somebody = Principal.fromText('2vxsx-fae');

class Values extends IDL.Visitor<null, unknown> {
  override visitType(type: IDL.Type): unknown {
    throw new Error(`Values of type ${type.display()} are not supported`);
  }

  override visitText(): unknown {
    return 'ünïcode';
  }

  override visitNat(): unknown {
    return 2n ** 70n;
  }

  override visitInt(): unknown {
    return -(2n ** 70n);
  }

  override visitFixedNat(type: IDL.FixedNatClass): unknown {
    return type._bits === 8 ? 200 : 404;
  }

  override visitBool(): unknown {
    return true;
  }

  override visitNull(): unknown {
    return null;
  }

  override visitPrincipal(): unknown {
    return somebody;
  }

  override visitFunc(): unknown {
    return [somebody, 'method'];
  }

  override visitOpt(_: unknown, of: IDL.Type): unknown {
    return [sampleOf(of)];
  }

  override visitVec(_: unknown, of: IDL.Type): unknown {
    return of === IDL.Nat8 ? Uint8Array.of(1, 2, 255) : [sampleOf(of), sampleOf(of)];
  }

  override visitRecord(_: unknown, fields: [string, IDL.Type][]): unknown {
    return Object.fromEntries(fields.map(([name, type]) => [name, sampleOf(type)]));
  }

  override visitTuple(_: unknown, types: IDL.Type[]): unknown {
    return types.map(sampleOf);
  }

  override visitVariant(_: unknown, fields: [string, IDL.Type][]): unknown {
    const [first] = fields;
    if (first === undefined) throw new Error('A variant without alternatives has no value');
    return { [first[0]]: sampleOf(first[1]) };
  }
}

export function sampleOf(type: IDL.Type): unknown {
  return type.accept(new Values(), null);
}
