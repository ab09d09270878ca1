import { defineModule, statement, Type, wire } from '../../src/index.ts'

const Count = wire.response('PlantedResponse', { rows: Type.Integer() })
const countRows = statement({
  name: 'planted.count',
  gives: { rows: 'int8' },
  text: 'select count(*) as rows from generate_series(1, 500000)'
})

/** A module with two operations that cost too much: one of this thread, one of the database. */
export function createPlanted() {
  let milliseconds = 0
  const schema = { summary: 'Cost too much', response: { 200: Count } }
  const module = defineModule({
    name: 'planted',
    description: 'Costs too much.',
    basePaths: ['/api/planted'],
    requires: {},
    uses: {},
    setup: async ({ db }) => ({
      api: {},
      routes: tiers => {
        tiers.public.get('/planted/thread', { config: { class: 'browse' }, schema }, () => {
          const before = process.threadCpuUsage()
          for (let used = 0; used < milliseconds * 1_000; ) {
            const { user, system } = process.threadCpuUsage(before)
            used = user + system
          }
          return { rows: 0 }
        })
        tiers.public.get('/planted/statement', { config: { class: 'browse' }, schema }, async () => {
          const row = await db.first(countRows)
          return { rows: row?.rows ?? 0 }
        })
      }
    })
  })
  return {
    module,
    /** How much of the thread it takes from now on. */
    burn: (given: number) => {
      milliseconds = given
    },
    operations: ['GET /api/planted/thread', 'GET /api/planted/statement']
  }
}
