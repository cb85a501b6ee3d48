/** Samples by Prometheus remote write, encoded by hand: protobuf, and snappy that compresses nothing. */

/** The server closes a connection that is idle for seconds, as it is when a busy machine comes late to its next request. */
export const ONCE = { headers: { Connection: "close" } };

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  /** Null is the marker with which Prometheus says that a series has ended. */
  readonly value: number | null;
  readonly timeMs: number;
}

const STALE = Buffer.from([0x02, 0, 0, 0, 0, 0, 0xf0, 0x7f]);

export async function writeSamples(url: string, samples: readonly Sample[]): Promise<void> {
  const body = snappyLiteral(Buffer.concat(samples.map((sample) => field(1, timeSeries(sample)))));
  const response = await fetch(`${url}/prometheus/api/v1/write`, {
    method: "POST",
    headers: {
      ...ONCE.headers,
      "Content-Type": "application/x-protobuf",
      "Content-Encoding": "snappy",
      "X-Prometheus-Remote-Write-Version": "0.1.0",
    },
    body: new Uint8Array(body),
  });
  if (!response.ok) throw new Error(`remote write: ${response.status} ${await response.text()}`);
}

function timeSeries({ labels, value, timeMs }: Sample): Buffer {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const pairs = sorted.map(([name, text]) => field(1, Buffer.concat([bytes(1, name), bytes(2, text)])));
  const double = Buffer.alloc(8);
  double.writeDoubleLE(value ?? 0);
  const sample = [Buffer.from([0x09]), value === null ? STALE : double, Buffer.from([0x10]), varint(timeMs)];
  return Buffer.concat([...pairs, field(2, Buffer.concat(sample))]);
}

const bytes = (number: number, text: string) => field(number, Buffer.from(text));
const field = (number: number, body: Buffer) => Buffer.concat([varint(number * 8 + 2), varint(body.length), body]);

function varint(value: number): Buffer {
  const out: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    out.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Buffer.from([...out, rest]);
}

/** Snappy's block format with literals only; a length of up to 65,536 stands in two bytes. */
function snappyLiteral(body: Buffer): Buffer {
  const parts = [varint(body.length)];
  for (let start = 0; start < body.length; start += 65_536) {
    const part = body.subarray(start, start + 65_536);
    const head = Buffer.from([61 << 2, 0, 0]);
    head.writeUInt16LE(part.length - 1, 1);
    parts.push(head, part);
  }
  return Buffer.concat(parts);
}
