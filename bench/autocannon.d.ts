declare module 'autocannon' {
  type Options = {
    url: string
    connections: number
    duration?: number
    amount?: number
    requests: { method?: string; path: string; headers?: Record<string, string> }[]
  }
  type Result = {
    requests: { total: number; average: number }
    latency: { p50: number; p99: number }
    non2xx: number
    errors: number
  }
  function autocannon(options: Options): Promise<Result>
  export = autocannon
}
