/** One line of values of the Prometheus text format. */
type Sample = { name: string; labels: Record<string, string>; value: number }
export type Family = { type: string; help: string; samples: Sample[] }

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (NaN|[+-]Inf|-?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?)$`)
const COMMENT = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`)
const SUFFIXES: Record<string, string[]> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count']
}
const FOREIGN_UNITS =
  /_(?:ms|milliseconds|microseconds|minutes|hours|kb|kilobytes|mb|megabytes|percent)(?:_|$)/

/**
 * Reads the Prometheus text format 0.0.4, strictly; `problems` says where it is broken or against the conventions:
 * HELP and TYPE once and before the samples, families together, no series twice, histograms cumulative, counters
 * called `_total` and base units.
 */
export function readExposition(text: string): { families: Map<string, Family>; problems: string[] } {
  const families = new Map<string, Family>()
  const problems: string[] = []
  const series = new Set<string>()
  let present: string | undefined
  if (!text.endsWith('\n')) problems.push('the last line has no end')
  for (const line of text.split('\n').filter(each => each !== '')) {
    const [, keyword, named = '', rest = ''] = COMMENT.exec(line) ?? []
    if (keyword === 'HELP') {
      if (families.has(named)) problems.push(`${named}: HELP twice`)
      families.set(named, { type: '', help: rest, samples: [] })
      present = named
    } else if (keyword === 'TYPE') {
      const family = families.get(named)
      if (family === undefined || named !== present) problems.push(`${named}: TYPE without HELP in front`)
      else if (family.type !== '' || family.samples.length > 0) problems.push(`${named}: TYPE twice or late`)
      else family.type = rest
    } else {
      const sample = readSample(line)
      const family = families.get(present ?? '')
      if (sample === undefined) problems.push(`not a sample: ${line}`)
      else if (family === undefined || !belongs(sample.name, present ?? '', family.type))
        problems.push(`${sample.name} stands below ${present}`)
      else {
        const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()])
        if (series.has(key)) problems.push(`series twice: ${line}`)
        series.add(key)
        family.samples.push(sample)
      }
    }
  }
  for (const [name, family] of families) problems.push(...familyProblems(name, family))
  return { families, problems }
}

function readSample(line: string): Sample | undefined {
  const [, name, list = '', value] = SAMPLE.exec(line) ?? []
  if (name === undefined) return undefined
  const labels: Record<string, string> = {}
  let rest = list
  while (rest !== '') {
    const [whole, label, text] = LABEL.exec(rest) ?? []
    if (whole === undefined || label === undefined || label in labels) return undefined
    labels[label] = text ?? ''
    rest = rest.slice(whole.length)
  }
  return { name, labels, value: Number(value?.replace('Inf', 'Infinity')) }
}

const belongs = (sample: string, family: string, type: string) =>
  (SUFFIXES[type] ?? ['']).some(suffix => sample === family + suffix)

function familyProblems(name: string, { type, help, samples }: Family): string[] {
  const problems: string[] = []
  if (help === '') problems.push(`${name}: no HELP`)
  if (!['counter', 'gauge', 'histogram', 'summary'].includes(type)) problems.push(`${name}: TYPE ${type}`)
  if ((type === 'counter') !== name.endsWith('_total')) problems.push(`${name}: a ${type}`)
  if (/_(?:counter|gauge|histogram|summary)(?:_|$)/.test(name)) problems.push(`${name}: names its type`)
  if (FOREIGN_UNITS.test(name)) problems.push(`${name}: not a base unit`)
  if (type === 'counter' && samples.some(({ value }) => !(value >= 0))) problems.push(`${name}: negative`)
  if (type === 'histogram') problems.push(...histogramProblems(name, samples))
  return problems
}

function histogramProblems(name: string, samples: readonly Sample[]): string[] {
  const key = ({ le: _, ...labels }: Record<string, string>) => JSON.stringify(Object.entries(labels).sort())
  const groups = Map.groupBy(samples, sample => key(sample.labels))
  return [...groups].flatMap(([labels, group]) => {
    const buckets = group.filter(sample => sample.name.endsWith('_bucket'))
    const bounds = buckets.map(sample => Number(sample.labels.le?.replace('+Inf', 'Infinity')))
    const counts = buckets.map(sample => sample.value)
    const count = group.find(sample => sample.name.endsWith('_count'))?.value
    const isAscending = (values: number[]) =>
      values.every((value, index) => value >= (values[index - 1] ?? 0))
    const fits =
      isAscending(bounds) && isAscending(counts) && bounds.at(-1) === Infinity && counts.at(-1) === count
    return fits ? [] : [`${name}${labels}: buckets do not add up`]
  })
}
