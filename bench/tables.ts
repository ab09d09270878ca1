export const median = (all: readonly number[]): number =>
  all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN

/** A table of what was measured, as ratios to one of its rows. */
export function table(unit: string, measured: Record<string, readonly number[]>, basis: string): void {
  print(`| | ${unit}: median (least to most) | ratio |\n|---|---:|---:|`)
  for (const [name, all] of Object.entries(measured)) {
    const ratio = median(all) / median(measured[basis] ?? [])
    const spread = `${shown(Math.min(...all))} to ${shown(Math.max(...all))}`
    print(`| ${name} | ${shown(median(all))} (${spread}) | ${ratio.toFixed(2)} |`)
  }
}

const shown = (figure: number): string => (figure < 100 ? figure.toFixed(1) : String(Math.round(figure)))

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
