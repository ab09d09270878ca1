import type { Liquid as Engine, Template } from 'liquidjs'
import { createLruCache } from '../../../kernel/lru-cache.ts'
import { formatMoney } from '../../../kernel/money.ts'
import { registerEveryBranchLiquidTags } from './every-branch.ts'
import { MAIL_HTML_LAYOUT, type MailTemplateSource } from './mail-parts.ts'
import type { MailTemplateSamples } from './samples.ts'

type Variables = Readonly<Record<string, unknown>>
export type RenderedMail = { readonly subject: string; readonly text: string; readonly html: string }
export type MailTemplatePart = keyof MailTemplateSource
export const MAIL_TEMPLATE_PARTS: readonly MailTemplatePart[] = ['subject', 'text', 'html']

/** Limits of Liquid: characters of a template, milliseconds of rendering, and units of memory. */
const LIMITS = { parseLimit: 200_000, renderLimit: 2_000, memoryLimit: 2_000_000 }
/**
 * Units of memory counted for each rendered piece. It limits nested loops to 50,000 pieces on a machine of any speed,
 * because rendering blocks its thread.
 */
const PIECE_MEMORY_UNITS = 40
/**
 * How many parsed templates of a part are kept, and how many characters of templates: their thread has 64 MB. Parsing takes as
 * long as rendering.
 */
const PARSED = {
  entriesMax: 100,
  sizeMax: LIMITS.parseLimit,
  sizeOf: (_: unknown, template: string) => template.length
}
const OUTPUT_LENGTH_MAX = { subject: 500, text: 200_000, html: 500_000 }

/** A template has a syntax error, uses an unknown variable, or exceeds a limit. */
export class MailTemplateFaultError extends Error {
  readonly part: MailTemplatePart
  readonly line: number

  constructor(part: MailTemplatePart, line: number, reason: string) {
    super(reason)
    this.part = part
    this.line = line
  }
}

/**
 * Renders Liquid templates within limits. Unknown variables and filters are errors, and templates cannot read files. The
 * output of `html` is escaped. `onPart` is called before each part.
 */
export function createLiquidEngine({
  timeZone,
  onPart
}: {
  timeZone: string
  onPart?: (part: MailTemplatePart) => void
}) {
  // The library is loaded with the first rendering, because loading it takes a while.
  let loading: Promise<Readonly<Record<MailTemplatePart | 'everyBranch', Engine>>> | undefined

  async function load() {
    const library = await import('liquidjs')
    const { Liquid } = library
    const shared = {
      ...LIMITS,
      strictVariables: true,
      strictFilters: true,
      lenientIf: false,
      ownPropertyOnly: true,
      cache: false,
      templates: { layout: MAIL_HTML_LAYOUT }
    }
    const make = (options: object) => {
      const engine = new Liquid({ ...shared, ...options })
      const { renderer } = engine
      const render = renderer.renderTemplates.bind(renderer)
      renderer.renderTemplates = (pieces, context, emitter) => {
        context.memoryLimit.use((pieces.length + 1) * PIECE_MEMORY_UNITS)
        return render(pieces, context, emitter)
      }
      engine.registerFilter('money', function (amount, currency) {
        return formatMoney(localeOf(this.context), wholeOf(amount), String(currency))
      })
      engine.registerFilter('moment', function (time) {
        return momentIn(localeOf(this.context), String(time), timeZone)
      })
      return engine
    }
    const plain = make({})
    const everyBranch = make({})
    registerEveryBranchLiquidTags(everyBranch, library)
    return { subject: plain, text: plain, html: make({ outputEscape: 'escape' }), everyBranch }
  }
  const engines = () => {
    loading ??= load()
    return loading
  }

  const parsed = { subject: createParsed(), text: createParsed(), html: createParsed() }
  function parse(engine: Engine, part: MailTemplatePart, template: string): Template[] {
    const known = parsed[part].get(template)
    if (known !== undefined) return known
    const made = engine.parse(template)
    parsed[part].set(template, made)
    return made
  }

  async function renderPart(part: MailTemplatePart, template: string, variables: Variables): Promise<string> {
    const engine = (await engines())[part]
    onPart?.(part)
    try {
      const written: string = engine.renderSync(parse(engine, part, template), variables)
      if (written.length > OUTPUT_LENGTH_MAX[part])
        throw new Error(`it is longer than ${OUTPUT_LENGTH_MAX[part]} characters`)
      return part === 'subject' ? oneLine(written) : written
    } catch (error) {
      throw faultOf(part, error)
    }
  }

  return {
    /** Loads the library ahead of the first rendering. */
    load: async (): Promise<void> => {
      await engines()
    },
    /** @throws MailTemplateFaultError */
    render: async (source: MailTemplateSource, variables: Variables): Promise<RenderedMail> => ({
      subject: await renderPart('subject', source.subject, variables),
      text: await renderPart('text', source.text, variables),
      html: await renderPart('html', source.html, variables)
    }),
    /** Returns the first fault of each part. A template may use the variables of the samples only. */
    check: async (
      source: MailTemplateSource,
      { example, minimal, maximal }: MailTemplateSamples
    ): Promise<MailTemplateFaultError[]> => {
      const faults: MailTemplateFaultError[] = []
      for (const part of MAIL_TEMPLATE_PARTS) {
        try {
          const engine = (await engines())[part]
          onPart?.(part)
          const { globals } = engine.analyzeSync(engine.parse(source[part]), { partials: false })
          for (const uses of Object.values(globals))
            for (const { segments, location } of uses)
              if (!isKnown(segments, example))
                throw new MailTemplateFaultError(part, location.row, `unknown variable ${segments.join('.')}`)
          for (const sample of [example, minimal]) await renderPart(part, source[part], sample)
          const { everyBranch } = await engines()
          everyBranch.renderSync(everyBranch.parse(source[part]), maximal)
        } catch (error) {
          faults.push(error instanceof MailTemplateFaultError ? error : faultOf(part, error))
        }
      }
      return faults
    }
  }
}
const createParsed = () => createLruCache<Template[]>(PARSED)
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

/** Joins the lines of a subject, because a header is one line. */
const oneLine = (text: string) => text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim()

/** Whether the example has a value at this path. The first element of a list stands for all. */
function isKnown(segments: readonly unknown[], example: unknown): boolean {
  let value = example
  for (const segment of segments) {
    // A variable in brackets has a value only when the template is rendered.
    if (typeof segment !== 'string' && typeof segment !== 'number') return true
    if (Array.isArray(value)) {
      if (segment === 'size' || segment === 'first' || segment === 'last') return true
      value = value[0]
    } else if (typeof value === 'object' && value !== null) {
      if (!Object.hasOwn(value, segment)) return false
      value = (value as Variables)[segment]
    } else return segment === 'size'
  }
  return true
}

type LiquidFault = Error & { token?: { getPosition?(): [number, number] }; originalError?: Error }

function faultOf(part: MailTemplatePart, error: unknown): MailTemplateFaultError {
  const { message, token, originalError } = error as LiquidFault
  const [line = 1] = token?.getPosition?.() ?? []
  const reason = (originalError?.message ?? message).split('\n')[0] ?? message
  return new MailTemplateFaultError(part, line, reason.replace(/, (?:file:.*, )?line:\d+, col:\d+$/, ''))
}
