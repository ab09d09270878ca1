import type { Context, Emitter, Liquid as Engine, Template } from 'liquidjs'

/**
 * Makes the engine render every branch, whatever its condition, and everything after `break` and `continue`. So a check
 * also finds faults in branches that the example data does not reach.
 */
export function registerEveryBranchLiquidTags(engine: Engine, library: typeof import('liquidjs')): void {
  const { IfTag, UnlessTag, CaseTag, ForTag, BreakTag, ContinueTag, Value, evalToken } = library
  const allBranches = (tag: typeof IfTag | typeof UnlessTag | typeof CaseTag) =>
    class extends (tag as typeof IfTag) {
      override *render(context: Context, emitter: Emitter): Generator<unknown, undefined, string> {
        for (const value of this.arguments())
          yield value instanceof Value ? value.value(context) : evalToken(value, context)
        const branches = (yield this.children()) as unknown as Template[]
        yield this.liquid.renderer.renderTemplates(branches, context, emitter)
      }
    }
  engine.registerTag('if', allBranches(IfTag))
  engine.registerTag('unless', allBranches(UnlessTag))
  engine.registerTag('case', allBranches(CaseTag))
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
