/** For `node --import`: the clock of this process is wrong by so many milliseconds as CLOCK_SKEW_MS says. */
const skewMs = Number(process.env.CLOCK_SKEW_MS ?? 0)
const { now: trueNow } = Date
const now = () => trueNow() + skewMs

globalThis.Date = new Proxy(Date, {
  construct: (target, given, asked) => Reflect.construct(target, given.length === 0 ? [now()] : given, asked),
  get: (target, name, asked) => (name === 'now' ? now : Reflect.get(target, name, asked))
})
