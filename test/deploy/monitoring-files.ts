import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const ROOT = new URL('../../', import.meta.url)
const DASHBOARDS = new URL('deploy/grafana/dashboards/', ROOT)
export const RULES_FILE = fileURLToPath(new URL('deploy/prometheus/alerts.yml', ROOT))
export const PROMETHEUS_FILE = fileURLToPath(new URL('deploy/prometheus/prometheus.yml', ROOT))

export type Alert = {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string; description: string; runbook: string }
}
type Panel = {
  type: string
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string; legendFormat: string }[]
}
export type Dashboard = { file: string; uid: string; title: string; panels: Panel[] }

export async function readAlerts(): Promise<Alert[]> {
  const { groups } = parse(await readFile(RULES_FILE, 'utf8')) as { groups: { rules: Alert[] }[] }
  return groups.flatMap(({ rules }) => rules)
}

export async function readDashboards(): Promise<Dashboard[]> {
  const files = await readdir(DASHBOARDS)
  return Promise.all(
    files.map(async file => ({ file, ...JSON.parse(await readFile(new URL(file, DASHBOARDS), 'utf8')) }))
  )
}

/** Every expression of the alerts and the dashboards, with the labels that its texts show. */
export const listExpressions = (alerts: readonly Alert[], dashboards: readonly Dashboard[]) => [
  ...alerts.map(({ alert, expr, annotations }) => ({
    where: alert,
    expr,
    shown: labelsIn(Object.values(annotations).join('\n'), /\$labels\.(\w+)/g)
  })),
  ...dashboards.flatMap(({ file, panels }) =>
    panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr, legendFormat }) => ({
        where: `${file}: ${title}`,
        expr,
        shown: labelsIn(legendFormat, /\{\{\s*(\w+)\s*\}\}/g)
      }))
    )
  )
]

const labelsIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, label = '']) => label)
