import type { Context, Emitter, Liquid as Engine, Template } from 'liquidjs'

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
