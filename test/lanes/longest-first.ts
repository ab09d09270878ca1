import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Test files of a minute or more. If one started last, it would run alone on one worker. */
const LONGEST = [
  'test/chaos/chaos.test.ts',
  'test/faults/orders-kill-life.test.ts',
  'test/package-examples.test.ts',
  'test/start.test.ts',
  'src/embedded-postgres/open.test.ts',
  'test/package.test.ts',
  'test/customer-walk.test.ts',
  'test/faults/edge.test.ts'
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some(path => moduleId.endsWith(`/${path}`))
    const { long = [], short = [] } = Object.groupBy(await super.sort(files), file =>
      isLong(file) ? 'long' : 'short'
    )
    return [...long, ...short]
  }
}
