import type { ImportProductsCsv } from './service.ts'

type ImportDurations = { observe(labels: { mode: 'best_effort' | 'all_or_nothing' }, seconds: number): void }

/** Observes the duration of each import. */
export const withImportDurationMetric =
  (importCsv: ImportProductsCsv, durations: ImportDurations): ImportProductsCsv =>
  async (file, options, progress) => {
    const startedAt = performance.now()
    try {
      return await importCsv(file, options, progress)
    } finally {
      const { mode = 'best_effort' } = options ?? {}
      durations.observe({ mode }, (performance.now() - startedAt) / 1_000)
    }
  }
