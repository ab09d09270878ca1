import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Liquid as Engine } from 'liquidjs'
import { moneyIn } from '../../../kernel/money.ts'
import { renderEveryBranch } from './every-branch.ts'
import type { Samples } from './samples.ts'
import { LAYOUT, type Words } from './words.ts'

type Scope = Readonly<Record<string, unknown>>
export type Rendered = { readonly subject: string; readonly text: string; readonly html: string }
export type Part = keyof Words
export const PARTS: readonly Part[] = ['subject', 'text', 'html']

/** What is written of a template, and how long it may take. */
const LIMITS = { parseLimit: 200_000, renderLimit: 2_000, memoryLimit: 2_000_000 }
/**
 * Each piece that is rendered counts as so much memory, so that there are 50,000 at most, on a machine of any speed: nothing
 * else happens meanwhile, and loops within loops would take all of the time.
 */
const PIECE_COST = 40
const OUTPUT_LENGTH_MAX = { subject: 500, text: 200_000, html: 500_000 }

/** A template cannot be read, or names what it does not know. */
export class TemplateFault extends Error {
  readonly part: Part
  readonly line: number

  constructor(part: Part, line: number, reason: string) {
    super(reason)
    this.part = part
    this.line = line
  }
}

/** Renders templates: strictly, from memory alone, within bounds. Their output is escaped in HTML. `onPart` is called before each part. */
export function createEngine({ timeZone, onPart }: { timeZone: string; onPart?: (part: Part) => void }) {
  // The library takes a while to load: only those who render something wait for it.
  let loading: Promise<Readonly<Record<Part | 'everyBranch', Engine>>> | undefined

  async function load() {
    const library = await import('liquidjs')
    const { Liquid } = library
    const shared = {
      ...LIMITS,
      ...{
        strictVariables: true,
        strictFilters: true,
        lenientIf: false,
        ownPropertyOnly: true,
        cache: false
      },
      templates: { layout: LAYOUT }
    }
    const make = (options: object) => {
      const engine = new Liquid({ ...shared, ...options })
      const { renderer } = engine
      const render = renderer.renderTemplates.bind(renderer)
      renderer.renderTemplates = (pieces, context, emitter) => {
        context.memoryLimit.use((pieces.length + 1) * PIECE_COST)
        return render(pieces, context, emitter)
      }
      engine.registerFilter('money', function (amount, currency) {
        return moneyIn(localeOf(this.context), wholeOf(amount), String(currency))
      })
      engine.registerFilter('moment', function (time) {
        return momentIn(localeOf(this.context), String(time), timeZone)
      })
      return engine
    }
    const plain = make({})
    const everyBranch = make({})
    renderEveryBranch(everyBranch, library)
    return { subject: plain, text: plain, html: make({ outputEscape: 'escape' }), everyBranch }
  }
  const engines = () => {
    loading ??= load()
    return loading
  }

  async function renderPart(part: Part, template: string, scope: Scope): Promise<string> {
    const engine = (await engines())[part]
    onPart?.(part)
    await nextTurn()
    try {
      const written: string = engine.renderSync(engine.parse(template), scope)
      if (written.length > OUTPUT_LENGTH_MAX[part])
        throw new Error(`it is longer than ${OUTPUT_LENGTH_MAX[part]} characters`)
      return part === 'subject' ? oneLine(written) : written
    } catch (error) {
      throw faultOf(part, error)
    }
  }

  return {
    /** Loads what the first rendering would load. */
    load: async (): Promise<void> => {
      await engines()
    },
    /** @throws TemplateFault */
    render: async (words: Words, scope: Scope): Promise<Rendered> => ({
      subject: await renderPart('subject', words.subject, scope),
      text: await renderPart('text', words.text, scope),
      html: await renderPart('html', words.html, scope)
    }),
    /** What is wrong with a template, of which the samples are all that it may name; nothing when it is well. */
    check: async (words: Words, { example, least, most }: Samples): Promise<TemplateFault[]> => {
      const faults: TemplateFault[] = []
      for (const part of PARTS) {
        try {
          const engine = (await engines())[part]
          onPart?.(part)
          const parsed = engine.parse(words[part])
          const { globals } = engine.analyzeSync(parsed, { partials: false })
          for (const uses of Object.values(globals))
            for (const { segments, location } of uses)
              if (!isKnown(segments, example))
                throw new TemplateFault(part, location.row, `it knows no ${segments.join('.')}`)
          for (const sample of [example, least]) await renderPart(part, words[part], sample)
          const { everyBranch } = await engines()
          await nextTurn()
          everyBranch.renderSync(everyBranch.parse(words[part]), most)
        } catch (error) {
          faults.push(error instanceof TemplateFault ? error : faultOf(part, error))
        }
      }
      return faults
    }
  }
}
const localeOf = (context: { getSync(path: string[]): unknown }) => String(context.getSync(['locale']))

function wholeOf(amount: unknown): number {
  if (!Number.isSafeInteger(amount)) throw new Error('money needs a whole number of minor units')
  return amount as number
}

function momentIn(locale: string, time: string, timeZone: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) throw new Error('moment needs a time')
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone }).format(date)
}

/** Whatever a subject is made of, it is one line of a header. */
const oneLine = (text: string) => text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim()

/** Whether the example has something at the end of this path; of elements of lists the first one speaks for all. */
function isKnown(segments: readonly unknown[], example: unknown): boolean {
  let place = example
  for (const segment of segments) {
    // What stands in brackets is known when it is rendered.
    if (typeof segment !== 'string' && typeof segment !== 'number') return true
    if (Array.isArray(place)) {
      if (segment === 'size' || segment === 'first' || segment === 'last') return true
      place = place[0]
    } else if (typeof place === 'object' && place !== null) {
      if (!Object.hasOwn(place, segment)) return false
      place = (place as Scope)[segment]
    } else return segment === 'size'
  }
  return true
}

type LiquidFault = Error & { token?: { getPosition?(): [number, number] }; originalError?: Error }

function faultOf(part: Part, error: unknown): TemplateFault {
  const { message, token, originalError } = error as LiquidFault
  const [line = 1] = token?.getPosition?.() ?? []
  const reason = (originalError?.message ?? message).split('\n')[0] ?? message
  return new TemplateFault(part, line, reason.replace(/, (?:file:.*, )?line:\d+, col:\d+$/, ''))
}
