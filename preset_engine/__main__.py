"""`python -m preset_engine` is `preset-engine`."""

from preset_engine.cli.app import main

if __name__ == "__main__":
    main()
