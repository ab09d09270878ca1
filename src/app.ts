import { PICTURES_PATH } from './demo/catalog.ts'
import { createExamples, type Examples } from './examples.ts'
import type { PublicFiles } from './gateway/pages/public-files.ts'
import { createGateway, type Gateway } from './gateway/server.ts'
import { GUIDES_PATH, listGuides, readGuide } from './guides.ts'
import { defineError } from './kernel/errors.ts'
import { type LoadedModule, type Module, setupModules, stopModules } from './module.ts'
import { authModule } from './modules/auth/index.ts'
import { cartModule } from './modules/cart/index.ts'
import { catalogModule } from './modules/catalog/index.ts'
import type { Platform } from './platform/platform.ts'
import { version } from './version.ts'

export { authModule, catalogModule }

/** Every module there is. The order does not matter: each is set up behind what it requires. */
export const modules = [authModule, catalogModule, cartModule]

const authDisabled = defineError(
  'unavailable',
  'AUTH_DISABLED',
  'Nobody can be authenticated while the module auth is disabled (modules.auth.enabled).'
)

export type App = Gateway & { apiOf: ReturnType<typeof apisOf>; examples: Examples; stop(): Promise<void> }

const guideFiles: PublicFiles = { path: GUIDES_PATH, type: 'text/plain; charset=utf-8', find: readGuide }
/** Only a shop with the demo draws its pictures. */
const demoFiles: PublicFiles = {
  path: PICTURES_PATH,
  type: 'image/svg+xml',
  find: async name => (await import('./demo/pictures.ts')).pictureAt(name)
}

/** Sets the modules up and puts the gateway in front of them. It listens where the caller says. */
export async function createApp(platform: Platform, all: readonly Module[] = modules): Promise<App> {
  const loaded = await setupModules(all, platform)
  const apiOf = apisOf(loaded)
  const examples = createExamples(apiOf)
  const gateway = await createGateway({
    platform,
    version,
    frontPage: { examples, guides: listGuides },
    files: platform.config.shop.demo === 'off' ? [guideFiles] : [guideFiles, demoFiles],
    authenticate: apiOf(authModule)?.authenticate ?? (() => Promise.reject(authDisabled())),
    revocations: apiOf(authModule)?.revocations,
    modules: all.map(module => {
      const instance = loaded.find(each => each.module === module)?.instance
      return { ...module, enabled: instance !== undefined, routes: instance?.routes }
    })
  })
  return { ...gateway, apiOf, examples, stop: () => stopModules(loaded) }
}

/** Looks up the API of an enabled module, for the command line and for tests. */
function apisOf(loaded: readonly LoadedModule[]) {
  return <Api>(module: { setup: (...args: never[]) => Promise<{ api: Api }> }): Api | undefined =>
    loaded.find(each => (each.module as unknown) === module)?.instance.api as Api | undefined
}
