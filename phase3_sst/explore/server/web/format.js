// Numbers for readers. Every number comes from the server; only its rounding is made here.

const PREFIXES = [
  [1, "s"],
  [1e-3, "ms"],
  [1e-6, "µs"],
  [1e-9, "ns"],
];

const plain = (value, digits) => {
  const text = Number(value.toPrecision(digits));
  return Math.abs(text) >= 1e6 || (text !== 0 && Math.abs(text) < 1e-3) ? value.toExponential(digits - 1) : String(text);
};

export const known = (value) => typeof value === "number" && Number.isFinite(value);

export function duration(value, digits = 4) {
  if (!known(value)) return "unknown";
  if (value === 0) return "0 s";
  const size = Math.abs(value);
  const [scale, unit] = PREFIXES.find(([least]) => size >= least * 0.9995) ?? PREFIXES[PREFIXES.length - 1];
  return `${plain(value / scale, digits)} ${unit}`;
}

// As many digits as the width of the interval asks for, 3 to 6.
export function digitsFor(value, low, high) {
  const width = high - low;
  if (!(value > 0) || !(width > 0)) return 4;
  return Math.min(6, Math.max(3, Math.ceil(Math.log10(value / width)) + 1));
}

export const interval = (low, high, digits = 4) =>
  known(low) && known(high) ? `${duration(low, digits)} to ${duration(high, digits)}` : null;

export function percent(share, digits = 3) {
  if (!known(share)) return "unknown";
  return `${Number((100 * share).toPrecision(digits))} %`;
}

export const signed = (text, value) => (value > 0 ? `+${text}` : text.replace("-", "−"));

export const number = (value, digits = 4) => {
  if (!known(value)) return "unknown";
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : plain(value, digits);
};

export const count = (value, noun) => `${value.toLocaleString("en")} ${noun}${value === 1 ? "" : "s"}`;

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
export function size(value) {
  if (!known(value)) return "unknown";
  let step = 0;
  let left = value;
  while (Math.abs(left) >= 1024 && step < SIZES.length - 1) {
    left /= 1024;
    step += 1;
  }
  return `${plain(left, 3)} ${SIZES[step]}`;
}

// A number of an axis [SI] with its unit.
export function quantity(value, kind) {
  if (!known(value)) return "unknown";
  if (kind === "time") return duration(value, 3);
  if (kind === "size") return size(value);
  const step = (units, base) => {
    const at = Math.max(0, Math.min(units.length - 1, Math.floor(Math.log(Math.abs(value)) / Math.log(base))));
    return `${plain(value / base ** at, 3)} ${units[at]}`;
  };
  if (kind === "bandwidth") return step(["B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"], 1000);
  if (kind === "frequency") return step(["Hz", "kHz", "MHz", "GHz"], 1000);
  return number(value, 3);
}

// A written value of a key, as a person reads it.
export function written(value) {
  if (value === null || value === undefined) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") return value.name ?? value.kind ?? JSON.stringify(value);
  return String(value);
}
