// Names of the public metadata of the service's module.

/** The version of the service. Modules up to version 0.2.0 have none. */
export const versionSection = 'efs:version';
/** The commit of the sources, 40 hexadecimal digits; builds of changed sources have none. */
export const commitSection = 'service:git:sha';
