/**
 * The systems that there are executables for: those whose runtime and native part are packages in package-lock.json. Named as
 * npm names systems.
 */

function target(name, runtime, native) {
  const [os, cpu, musl] = name.split('-');
  const isWindows = os === 'windows';
  return {
    name,
    suffix: isWindows ? '.exe' : '',
    /** The package with the runtime for it; the bundler knows the system by the same name. */
    runtime: `bun-${runtime}`,
    /** The package with the one part that is machine code. */
    native: `@node-rs/argon2-${native}`,
    /** What npm then installs, wherever it runs. */
    npm: [
      `--os=${isWindows ? 'win32' : os}`,
      `--cpu=${cpu}`,
      ...(os === 'linux' ? [`--libc=${musl ?? 'glibc'}`] : []),
    ],
  };
}

export const targets = [
  target('linux-x64', 'linux-x64', 'linux-x64-gnu'),
  target('linux-x64-musl', 'linux-x64-musl', 'linux-x64-musl'),
  target('linux-arm64', 'linux-aarch64', 'linux-arm64-gnu'),
  target('linux-arm64-musl', 'linux-aarch64-musl', 'linux-arm64-musl'),
  target('darwin-x64', 'darwin-x64', 'darwin-x64'),
  target('darwin-arm64', 'darwin-aarch64', 'darwin-arm64'),
  target('windows-x64', 'windows-x64', 'win32-x64-msvc'),
  target('windows-arm64', 'windows-aarch64', 'win32-arm64-msvc'),
];
