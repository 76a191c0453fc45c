/** Reads the text form of Prometheus, as far as tests look at it. */

export interface Series {
  /** With `_bucket`, `_sum` or `_count` behind it for those of a histogram. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly series: readonly Series[];
}

function seriesIn(line: string): Series {
  const [, name = "", labels = "", value = ""] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === "") throw new Error(`no series: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
    ([, label = "", text = ""]) => [label, text.replaceAll(/\\(.)/g, "$1")] as const,
  );
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}

/** The families, in their order. Throws at a series that stands below the head of another. */
export function familiesIn(text: string): Family[] {
  const families: (Family & { readonly series: Series[] })[] = [];
  for (const line of text.split("\n").filter((one) => one !== "")) {
    const [, help] = /^# HELP (.*)$/.exec(line) ?? [];
    const [, typed, type] = /^# TYPE (\w+) (\w+)$/.exec(line) ?? [];
    const last = families.at(-1);
    if (help !== undefined) {
      const [name = "", ...words] = help.split(" ");
      families.push({ name, type: "", help: words.join(" "), series: [] });
    } else if (typed !== undefined && last !== undefined) {
      families[families.length - 1] = { ...last, name: typed, type: type ?? "" };
    } else {
      const series = seriesIn(line);
      if (last === undefined || !series.name.startsWith(last.name))
        throw new Error(`without a head: ${line}`);
      last.series.push(series);
    }
  }
  return families;
}

/** The value of the one series of that name with at least these labels. */
export function seriesValue(
  text: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const found = familiesIn(text)
    .flatMap(({ series }) => series)
    .filter((one) => one.name === name)
    .filter((one) => Object.entries(labels).every(([label, value]) => one.labels[label] === value));
  const [one] = found;
  if (one === undefined || found.length > 1)
    throw new Error(`${found.length} series of ${name} ${JSON.stringify(labels)}`);
  return one.value;
}
