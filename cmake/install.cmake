# What `cmake --install` puts where: libraries, headers, the CMake package, the pkg-config file.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stablegrad)

install(TARGETS stablegrad stablegrad_shared EXPORT stablegrad-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/stablegrad DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET stablegrad-pinn_shared)
    # The engine is installed as a shared library: it brings SLEEF and libfyaml along.
    install(TARGETS stablegrad-pinn_shared EXPORT stablegrad-targets
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(EXPORT stablegrad-targets NAMESPACE stablegrad:: DESTINATION ${package_dir})

configure_package_config_file(cmake/stablegrad-config.cmake.in
    ${PROJECT_BINARY_DIR}/stablegrad-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/stablegrad-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/stablegrad-config.cmake
              ${PROJECT_BINARY_DIR}/stablegrad-config-version.cmake DESTINATION ${package_dir})

# The prefix is found from where the file lies, so an installed tree can be moved.
file(RELATIVE_PATH SG_PC_TO_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
set(modules stablegrad)
if(TARGET stablegrad-pinn_shared)
    list(APPEND modules stablegrad-pinn)
endif()
foreach(module ${modules})
    configure_file(cmake/${module}.pc.in ${PROJECT_BINARY_DIR}/${module}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${module}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

if(TARGET stablegrad-program)
    install(TARGETS stablegrad-program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(DIRECTORY problems DESTINATION ${CMAKE_INSTALL_DATADIR}/stablegrad)
    install(FILES ${PROJECT_BINARY_DIR}/cli/stablegrad.man DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
            RENAME stablegrad.1)
    install(FILES ${PROJECT_BINARY_DIR}/cli/stablegrad.completion
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME stablegrad)
endif()
