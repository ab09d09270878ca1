import type { Context, Emitter, Liquid as Engine, Template } from 'liquidjs'

/** As long as whoever asks for an element of a list behind its length may want. */
const ELEMENTS = 10
/** What may be empty, such as the name of somebody who has said none. */
const OPTIONAL = new Set([
  ...['name', 'url', 'unsubscribe_url', 'carrier', 'tracking_number', 'variant_name', 'description', 'answer']
])

/**
 * From now on this engine renders all branches, whatever their conditions say, and what stands behind `break`: a fault
 * cannot hide where an example does not lead.
 */
export function renderEveryBranch(engine: Engine, library: typeof import('liquidjs')): void {
  const { IfTag, UnlessTag, CaseTag, ForTag, BreakTag, ContinueTag, Value, evalToken } = library
  const both = (tag: typeof IfTag | typeof UnlessTag | typeof CaseTag) =>
    class extends (tag as typeof IfTag) {
      override *render(context: Context, emitter: Emitter): Generator<unknown, undefined, string> {
        for (const value of this.arguments())
          yield value instanceof Value ? value.value(context) : evalToken(value, context)
        const branches = (yield this.children()) as unknown as Template[]
        yield this.liquid.renderer.renderTemplates(branches, context, emitter)
      }
    }
  engine.registerTag('if', both(IfTag))
  engine.registerTag('unless', both(UnlessTag))
  engine.registerTag('case', both(CaseTag))
  engine.registerTag(
    'for',
    class extends ForTag {
      override *render(context: Context, emitter: Emitter): Generator<unknown, undefined, Template[]> {
        yield super.render(context, emitter)
        yield this.liquid.renderer.renderTemplates(this.elseTemplates, context, emitter)
      }
    }
  )
  engine.registerTag(
    'break',
    class extends BreakTag {
      override render() {}
    }
  )
  engine.registerTag(
    'continue',
    class extends ContinueTag {
      override render() {}
    }
  )
}

/** The same data, with this done to all texts that may be empty, and to all lists. */
function vary(data: unknown, text: (text: string) => string, list: (list: unknown[]) => unknown[]): unknown {
  if (Array.isArray(data)) return list(data).map(each => vary(each, text, list))
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      typeof value === 'string' && OPTIONAL.has(name) ? text(value) : vary(value, text, list)
    ])
  )
}

type Scope = Readonly<Record<string, unknown>>
/** As little as a mail may be about: what may be empty is, and lists have one element. */
export const leastOf = (example: Scope): Scope =>
  vary(
    example,
    () => '',
    list => list.slice(0, 1)
  ) as Scope
/** With lists that are long enough for those who ask how long they are. */
export const mostOf = (example: Scope): Scope =>
  vary(
    example,
    text => text,
    list => Array.from({ length: ELEMENTS }, (_, index) => list[index % list.length])
  ) as Scope
