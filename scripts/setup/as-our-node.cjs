// Preloaded into npm: it checks the `engines` of optional packages against the version of the Node that runs it.
Object.defineProperty(process, 'version', { value: process.env.PLATFORM_SETUP_NODE_VERSION, enumerable: true });
