import type { ContractCase } from '../../src/contracts/tender.ts'

/** Returns the names of the cases of a contract that a provider breaks. Each case runs with a subject of its own. */
export async function brokenCases(open: () => readonly ContractCase[]): Promise<string[]> {
  const outcomes = await Promise.allSettled(open().map((_, index) => open()[index]?.run()))
  return open()
    .filter((_, index) => outcomes[index]?.status === 'rejected')
    .map(({ name }) => name)
}
